import { CliError } from '../base/errors.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import { printable } from '../base/prose.ts'
import type { Publisher } from '../contract/manifest.ts'
import { percent } from '../dataset/published-share.ts'
import type { Numbers } from '../raw/inspect.ts'
import { looksPrivate } from '../raw/model-names.ts'
import { slugProblem } from '../raw/slug.ts'
import { Source, SourcesFile } from '../raw/sources.ts'
import { publisherProblem } from '../release/publisher.ts'
import { choosePublic } from '../setup/choose-public.ts'
import type { DiagnosedSource, Unknown } from '../setup/doctor.ts'
import type { Unfit } from '../setup/found-logs.ts'
import { mostTokensFirst } from '../setup/log-reading.ts'
import type { Interview, Question } from './interview.ts'
import { table } from './output.ts'

/** The flags of `init` that answer a question. */
export interface Given {
  model: readonly string[]
  baseTime: readonly string[]
  timeUnit: readonly string[]
  timezone: readonly string[]
  public: readonly string[]
  private: readonly string[]
  publisherName?: string | undefined
  publisherUrl?: string | undefined
  contact?: string | undefined
  acceptRejected: boolean
  allLogged: boolean
  anyway: boolean
}

const OF_SOURCE = /^[\w.-]+=/

/** The value of a flag that is given for all sources or as `SOURCE=VALUE`. */
export function givenFor(name: string, words: readonly string[]): string | undefined {
  const own = words.findLast((word) => word.startsWith(`${name}=`))
  return own?.slice(name.length + 1) ?? words.findLast((word) => !OF_SOURCE.test(word))
}

const SETTINGS: Record<Unknown, Pick<Question, 'flag' | 'fallback' | 'example'> & { ask: string }> = {
  model: { ask: 'Which model are the records of', flag: '--model', example: 'author/model' },
  base_time: {
    ask: 'When do the relative times begin (such as 2025-03-01T00:00:00Z) of',
    flag: '--base-time',
    example: '2025-03-01T00:00:00Z',
  },
  time_unit: {
    ask: 'Are these times seconds or milliseconds:',
    flag: '--time-unit',
    example: 'milliseconds',
  },
  timezone: {
    ask: 'In which time zone (such as Europe/Paris) are the times of',
    flag: '--timezone',
    fallback: 'UTC',
    example: 'UTC',
  },
}

/** Throws `CliError` for a flag with a value that no source can have. */
export function checkSettings(words: Record<Unknown, readonly string[]>): void {
  for (const [key, all] of Object.entries(words) as [Unknown, readonly string[]][]) {
    for (const word of all) {
      const problem = settingProblem(key, word.replace(OF_SOURCE, ''))
      if (problem !== undefined) throw new CliError(`${SETTINGS[key].flag} ${JSON.stringify(word)}: ${problem}`)
    }
  }
}

/** Throws `CliError` for a `SOURCE=VALUE` whose source is not there. */
export function checkNames(words: readonly string[], names: readonly string[]): void {
  const unknown = words.find((word) => OF_SOURCE.test(word) && !names.some((name) => word.startsWith(`${name}=`)))
  if (unknown === undefined) return
  throw new CliError(`${JSON.stringify(unknown)} names no source of these logs: they are ${names.join(', ')}`)
}

const UNITS = 'must be seconds or milliseconds'

function settingProblem(key: Unknown, value: string): string | undefined {
  if (key === 'model') return slugProblem(value)
  if (key === 'time_unit') return ['seconds', 'milliseconds'].includes(value) ? undefined : UNITS
  const source = { name: 'logs', schema: 'canonical', files: ['logs'], [key]: value }
  return Source.safeParse(source).error?.issues[0]?.message
}

/** Asks what only the maintainer knows of a source. */
export async function askSettings(
  { entry, unknown, numbers, reading }: DiagnosedSource,
  interview: Interview,
): Promise<DiagnosedSource['entry']> {
  let known = entry
  for (const key of unknown) {
    const { ask, ...setting } = SETTINGS[key]
    const about = `${printable(entry.name)} (${counted(reading.files, 'file')})`
    const text = `${ask} ${about}${key === 'time_unit' && numbers !== undefined ? endsOf(numbers, known.base_time) : ''}`
    const problem = (answer: string) => settingProblem(key, answer)
    known = { ...known, [key]: await interview.ask({ ...setting, text, problem }) }
  }
  return known
}

/** What the last of some numbers becomes in each unit. */
function endsOf({ first, last }: Numbers, base = ''): string {
  const end = (unit: number) => new Date(Date.parse(base) + last * unit).toISOString()
  return ` has ${formatInteger(first)} to ${formatInteger(last)}; the last is ${end(1000)} in seconds, ${end(1)} in milliseconds`
}

/** A model of the logs, and why it looks private. */
export interface ListedModel {
  model: string
  tokens: bigint
  why: string | undefined
}

/** All models of the logs, most tokens first. Of a source without a column for it, the model that was given. */
export function listModels(sources: readonly DiagnosedSource[]): ListedModel[] {
  const models = new Map<string, ListedModel>()
  for (const { entry, reading } of sources) {
    for (const { model, tokens } of reading.models) {
      const slug = entry.model ?? model
      const why = entry.model === undefined ? looksPrivate(slug) : undefined
      models.set(slug, { model: slug, tokens: tokens + (models.get(slug)?.tokens ?? 0n), why })
    }
  }
  return [...models.values()].sort(mostTokensFirst)
}

export const MODELS_SHOWN = 10

export async function askPublic(
  models: readonly ListedModel[],
  given: Pick<Given, 'public' | 'private'>,
  interview: Interview,
  write: (text: string) => void,
): Promise<Set<string>> {
  const closed = given.private
  if (given.public.length > 0) return choosePublic(models, { open: given.public, closed })
  const shown = models.filter(({ why }, position) => position < MODELS_SHOWN || why !== undefined)
  const rows = shown.map(({ model, tokens, why }) => [
    model,
    formatInteger(tokens),
    why === undefined ? '' : `looks private: ${why}`,
  ])
  const more = models.length > rows.length ? `and ${models.length - rows.length} more\n` : ''
  write(`\n${table([['model', 'tokens', ''], ...rows])}${more}`)
  const answer = await interview.ask({
    text: 'Which models are public: all (but those that look private), none, each (one by one), or names and patterns such as acme/*',
    flag: '--public',
    fallback: 'all',
    example: 'all',
    problem: (words) => problemOf(() => words === 'each' || choosePublic(models, { open: words.split(/\s+/), closed })),
  })
  if (answer !== 'each') return choosePublic(models, { open: answer.split(/\s+/), closed })
  const open: string[] = []
  for (const { model, why } of models) {
    const isOpen = await askYesOrNo(interview, {
      text: `Is ${printable(model)} public`,
      flag: '--public',
      fallback: why === undefined ? 'yes' : 'no',
    })
    if (isOpen) open.push(model)
  }
  return choosePublic(models, { open, closed })
}

function problemOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof CliError) return `fits nothing: ${error.message}`
    throw error
  }
}

export async function askYesOrNo(
  interview: Interview,
  question: Pick<Question, 'text' | 'flag' | 'fallback' | 'isOptional'>,
): Promise<boolean> {
  const answer = await interview.ask({
    ...question,
    text: `${question.text}? yes or no`,
    example: 'yes',
    problem: (word) => (/^(y|yes|n|no)$/i.test(word) ? undefined : 'is neither yes nor no'),
  })
  return /^y/i.test(answer)
}

const FIELDS = [
  {
    field: 'name',
    flag: '--publisher-name',
    given: 'publisherName',
    text: 'Who publishes: your name or that of your company',
    example: 'Your company',
  },
  {
    field: 'url',
    flag: '--publisher-url',
    given: 'publisherUrl',
    text: 'Where it will be published: https://…',
    example: 'https://tokens.your-company.example',
  },
  {
    field: 'contact',
    flag: '--contact',
    given: 'contact',
    text: 'A contact: an address for mail, or a page',
    example: 'data@your-company.example',
  },
] as const

/** Asks who publishes. */
export async function askPublisher(given: Given, interview: Interview): Promise<Publisher> {
  let publisher: Publisher = {
    name: FIELDS[0].example,
    url: FIELDS[1].example,
    contact: FIELDS[2].example,
    title: 'Daily LLM token rankings',
    description: '-',
  }
  for (const { field, flag, given: key, text, example } of FIELDS) {
    const problem = (answer: string) => publisherProblem({ ...publisher, [field]: answer }, field)
    const wrong = given[key] === undefined ? undefined : problem(given[key])
    if (wrong !== undefined) throw new CliError(`${flag} ${JSON.stringify(given[key])} ${wrong}`)
    publisher = { ...publisher, [field]: given[key] ?? (await interview.ask({ text, flag, example, problem })) }
  }
  return {
    ...publisher,
    description: `Tokens per language model and UTC day on the gateway of ${publisher.name}: the top 50 public models and one row for all others.`,
  }
}

/** Makes sure that logs which may be a sample have all requests. Throws `CliError` if they have not. */
export async function askSampled(
  sources: readonly DiagnosedSource[],
  given: Pick<Given, 'allLogged'>,
  interview: Interview,
): Promise<void> {
  const names = sources.filter(({ entry }) => entry.sampling_rate !== undefined).map(({ entry }) => entry.name)
  if (names.length === 0 || given.allLogged) return
  const text = `Were all requests of ${printable(names.join(', '))} logged, with a sampling rate of 1`
  if (await askYesOrNo(interview, { text, flag: '--all-logged' })) return
  throw new CliError('nothing was written: a sample would count too little. Log all requests, or leave these files out')
}

/** Makes sure that files which cannot be read are not needed. Throws `CliError` if they are. */
export async function askBroken(
  unfit: readonly Unfit[],
  given: Pick<Given, 'acceptRejected'>,
  interview: Interview,
): Promise<void> {
  const broken = unfit.filter(({ isBroken = false }) => isBroken)
  const [first] = broken
  if (first === undefined || given.acceptRejected) return
  const text =
    `${counted(broken.length, 'raw file')} cannot be read, such as ${printable(first.file)}, and ` +
    'none of their records counts. Publish the rest'
  if (await askYesOrNo(interview, { text, flag: '--accept-rejected' })) return
  throw new CliError('nothing was written: see above which files are not read, and why')
}

/** The share of rejected records that a build has to accept; undefined if the default is enough. */
export async function askRejected(
  sources: readonly DiagnosedSource[],
  given: Pick<Given, 'acceptRejected'>,
  interview: Interview,
): Promise<number | undefined> {
  const sum = (numberOf: (source: DiagnosedSource) => number) =>
    sources.reduce((all, source) => all + numberOf(source), 0)
  const read = sum(({ reading }) => reading.read)
  const rejected = sum(({ reading }) => reading.rejected.reduce((all, { records }) => all + records, 0))
  const share = read === 0 ? 0 : rejected / read
  if (share <= DEFAULT_REJECTED_SHARE) return undefined
  const limit = Math.ceil(share * 100) / 100
  const text = `${formatInteger(rejected)} of ${counted(read, 'record')} (${percent(share)}) cannot be read and do not count. Publish the rest`
  const flag = '--accept-rejected'
  if (given.acceptRejected || (await askYesOrNo(interview, { text, flag }))) return limit
  throw new CliError('nothing was written: see above which records are rejected, and why')
}

const DEFAULT_REJECTED_SHARE = SourcesFile.shape.max_rejected_share.parse(undefined)
