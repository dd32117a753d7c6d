import { counted, formatBytes, formatInteger, formatTokens } from '../base/numbers.ts'
import { printable } from '../base/prose.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'
import { percent } from '../dataset/published-share.ts'
import { SAMPLING_TO_CHECK } from '../raw/inspect.ts'
import type { DiagnosedSource, Diagnosis, Unknown } from '../setup/doctor.ts'
import type { LogReading } from '../setup/log-reading.ts'
import { section } from './output.ts'

const MODELS_SHOWN = 10
const FILES_SHOWN = 10
const ENTRIES_SHOWN = 3
const LONGEST_EXAMPLE = 160

/** What the doctor found, for people. `lastDate`: the last date that may be published. */
export function describeDiagnosis({ sources, unfit, skipped }: Diagnosis, lastDate: UtcDate): string {
  const sections = sources.map((source) => describeSource(source, lastDate))
  if (unfit.length > 0) {
    const lines = shortened(unfit, ({ file, why }) => `${printable(file)}: ${printable(cut(why))}`)
    sections.push(['not read', ...[...lines, ...adviceOn(unfit)].map((line) => `  ${line}`)].join('\n'))
  }
  if (skipped.length > 0) {
    sections.push(
      `skipped, no raw files by their names (unpack archives, export sheets as CSV): ${shortened(skipped, printable).join(', ')}`,
    )
  }
  return `${sections.join('\n\n')}\n`
}

/** What to do about the first file that fits no schema. */
export function adviceOn(unfit: Diagnosis['unfit']): string[] {
  const { file, advice = [] } = unfit.find((each) => (each.advice ?? []).length > 0) ?? { file: '' }
  return advice.map((line) => printable(`${file}: ${line}`))
}

/** The same for programs. Tokens are texts, because they may be above 2^53. */
export function asJson(diagnosis: unknown): string {
  return JSON.stringify(diagnosis, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
}

function describeSource(
  { entry, product, unknown, unread, fixed, reading }: DiagnosedSource,
  lastDate: UtcDate,
): string {
  const size = `${counted(reading.files, 'file')}, ${formatBytes(reading.bytes)}`
  const { name, schema, files, model, base_time, time_unit, timezone = 'UTC', columns = {}, sampling_rate } = entry
  const renamed = Object.entries(columns).map(([column, own]) => `${column} from ${printable(JSON.stringify(own))}`)
  const time = [
    ...(unknown.includes('base_time') ? ['relative: say when they start'] : []),
    ...(base_time !== undefined && !unknown.includes('base_time') ? [`numbers from ${base_time}`] : []),
    ...(unknown.includes('time_unit') ? ['say whether in seconds or in milliseconds'] : []),
    ...(time_unit === undefined || unknown.includes('time_unit') ? [] : [`in ${time_unit}`]),
    ...(unknown.includes('timezone') ? ['without an offset: read as UTC unless you say another time zone'] : []),
    ...(timezone === 'UTC' ? [] : [`in ${timezone}`]),
  ]
  const lines: [string, string][] = [
    ['schema', schema === 'canonical' ? 'canonical, your own logs' : `${schema}, ${product}`],
    ['files', `${size}: ${shortened(files, printable, ENTRIES_SHOWN).join(', ')}`],
    ...(fixed.length === 0 ? [] : [['', describeFixed(fixed)] as [string, string]]),
    ...(renamed.length === 0 ? [] : [['columns', renamed.join(', ')] as [string, string]]),
    ...(time.length === 0 ? [] : [['time', time.join('; ')] as [string, string]]),
    ...unread.map((path): [string, string] => [
      'unread',
      `${printable(path)}: if the other counts do not include it, add it in "columns" of the source (docs/sources.md)`,
    ]),
    ...describeReading(reading, unknown, lastDate),
    ...(unknown.includes('model')
      ? [['model', 'no column has it: one name is needed for all records'] as [string, string]]
      : []),
    ...(sampling_rate === undefined ? [] : [['sampling', SAMPLING_TO_CHECK] as [string, string]]),
    ...(model !== undefined && !unknown.includes('model') ? [['model', printable(model)] as [string, string]] : []),
  ]
  return [printable(name), ...lines.flatMap(([label, text]) => section(label, [text]))].join('\n')
}

function describeFixed(folders: readonly string[]): string {
  const names = shortened(folders, printable, ENTRIES_SHOWN).join(', ')
  return `new files in ${names} will not be read: no pattern names these files and no others; add them to "files"`
}

function describeReading(reading: LogReading, unknown: readonly Unknown[], lastDate: UtcDate): [string, string][] {
  const { read, excluded, rejected, disagreeing, models, notices } = reading
  const hasDates = !unknown.includes('base_time') && !unknown.includes('time_unit')
  const countedRecords = reading.days.reduce((sum, { records }) => sum + records, 0)
  const aside = [
    ...Object.entries(excluded).map(([reason, records]) => `${formatInteger(records)} ${EXCLUDED[reason] ?? reason}`),
    ...rejected.map(({ reason, records }) => `${formatInteger(records)} rejected (${reason})`),
  ]
  return [
    [
      'records',
      `${formatInteger(read)} read, ${formatInteger(countedRecords)} counted${aside.length === 0 ? '' : `; ${aside.join(', ')}`}`,
    ],
    ...(hasDates ? [describeDates(reading, lastDate)] : []),
    ...describeTokens(reading),
    ...(unknown.includes('model') ? [] : [['models', describeModels(models)] as [string, string]]),
    ...describeTotal(reading),
    ['ids', describeIds(reading)],
    ...Object.entries(disagreeing).map(([reason, records]): [string, string] => [
      'disagree',
      `${counted(records, 'record')} with token counts that contradict each other (${reason}); they count${ADVICE[reason] ?? ''}`,
    ]),
    ...rejected.flatMap(({ reason, example }): [string, string][] =>
      example === undefined
        ? []
        : [
            [
              'rejected',
              `${reason}, such as ${printable(example.file)}, record ${formatInteger(example.record)}: ${printable(cut(contentOf(example.content)))}`,
            ],
          ],
    ),
    ...notices.map((notice): [string, string] => ['note', printable(notice)]),
  ]
}

const ADVICE: Record<string, string> = {
  cached_above_prompt:
    ' as they are: the prompt seems to be without cached input, which "columns" can add (docs/sources.md)',
}

function describeIds({ ids: { accepted, missing } }: LogReading): string {
  if (accepted === 0) return 'no record counts'
  if (missing === 0) return 'all records have one'
  return `${formatInteger(missing)} of ${counted(accepted, 'record')} have none: one that is delivered twice counts twice`
}

function describeTotal({ product_total }: LogReading): [string, string][] {
  if (product_total === undefined) return []
  const { product, tokens } = product_total
  const said = `the product's own total is ${product === tokens ? 'the same' : formatInteger(product)}`
  return [['total', product === tokens ? said : `${said}, ours ${formatInteger(tokens)}: compare some records`]]
}

const EXCLUDED: Record<string, string> = {
  duplicate: 'duplicate',
  left_out: 'left out by the schema (such as cache hits, failures, steps that repeat others, entries without usage)',
  nothing_used: 'without a model and without tokens, such as requests that failed',
  private: 'private by their own visibility',
}

function describeDates({ days }: LogReading, lastDate: UtcDate): [string, string] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return ['dates', 'none']
  const early = days.filter(({ date }) => date < DATASET_START).length
  const late = days.filter(({ date }) => date > lastDate).length
  const outside = [
    ...(early > 0 ? [`${counted(early, 'day')} before the dataset begins, ${DATASET_START}`] : []),
    ...(late > 0 ? [`${counted(late, 'day')} not yet complete, after ${lastDate}`] : []),
  ]
  const range = first === last ? first.date : `${first.date} to ${last.date}`
  return ['dates', [`${counted(days.length, 'day')}, ${range}`, ...outside].join('; ')]
}

function describeTokens({ days }: LogReading): [string, string][] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const all = days.reduce((sum, { tokens }) => sum + tokens, 0n)
  const most = days.reduce((peak, day) => (day.tokens > peak.tokens ? day : peak))
  const perDay = Object.entries({ first, last, most }).map(
    ([which, { date, tokens }]) => `${which} ${formatTokens(tokens)} (${date})`,
  )
  return [['tokens', `${formatInteger(all)}${first === last ? '' : `; a day: ${perDay.join(', ')}`}`]]
}

function describeModels(models: LogReading['models']): string {
  if (models.length === 0) return 'none'
  const all = models.reduce((sum, { tokens }) => sum + tokens, 0n)
  const share = (tokens: bigint) => (all === 0n ? '' : ` ${percent(Number(tokens) / Number(all))}`)
  const names = shortened(models, ({ model, tokens }) => `${printable(model)}${share(tokens)}`, MODELS_SHOWN)
  return `${formatInteger(models.length)}: ${names.join(', ')}`
}

function shortened<Item>(items: readonly Item[], textOf: (item: Item) => string, shown = FILES_SHOWN): string[] {
  const more = items.length > shown ? [`and ${formatInteger(items.length - shown)} more`] : []
  return [...items.slice(0, shown).map(textOf), ...more]
}

function contentOf(content: string | Record<string, string | null>): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

function cut(text: string): string {
  return text.length > LONGEST_EXAMPLE ? `${text.slice(0, LONGEST_EXAMPLE)}…` : text
}
