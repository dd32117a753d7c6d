/**
 * What the pipeline must publish, written a second time and as plainly as possible: no DuckDB, no streams, no code of
 * the pipeline, only docs/specification.md. Counts are BigInt.
 */
import { createHash } from 'node:crypto'

/** One raw record as it stands in a file: every field is text, and an empty text is an absent field. */
export interface RawRecord {
  timestamp: string
  model_permaslug: string
  prompt_tokens: string
  completion_tokens: string
  request_id: string
  visibility: string
}

export interface OracleSource {
  /** What the source says of all its records; `registry` asks the registry. */
  visibility: 'public' | 'private' | 'registry'
  /** The zone of timestamps without an offset, as in the time zone database. */
  timezone: string
  records: RawRecord[]
}

export interface RegistryModel {
  model_permaslug: string
  aliases: string[]
  public: boolean
}

export interface OracleRow {
  date: string
  model_permaslug: string
  total_tokens: string
}

export interface OracleAnswer {
  rows: OracleRow[]
  /** The canonical CSV, and `sha256:` of its bytes. */
  csv: string
  content_hash: string
  /** The CSV of the other two tables. */
  weekly: string
  monthly: string
  /** Public tokens of every published date, `other` included. */
  totals: Map<string, bigint>
  read: number
  duplicates: number
  rejected: Record<string, number>
}

/** A record that passed every check. */
interface UsageRecord {
  /** Microseconds since 1970 in UTC. */
  timestamp: bigint
  date: string
  model: string
  prompt: bigint
  completion: bigint
  request_id: string
  visibility: string
  raw: RawRecord
}

const DATASET_START = '2025-01-01'
const FIRST_CREDIBLE_DATE = '2015-01-01'
/** The day after that of the clock by which tests build. */
const LAST_CREDIBLE_DATE = '2026-11-21'
const TOP_MODELS = 50
const MAX_TOKENS = 2n ** 53n - 1n
const MICROSECONDS_PER_DAY = 86_400_000_000n

/** Public tokens by date and model. */
export type Sums = Map<string, Map<string, bigint>>

/** read → reject → alias → de-duplicate → visibility → sum → rank. */
export function expectedDataset(sources: OracleSource[], registry: RegistryModel[], asOf: string): OracleAnswer {
  const answer: OracleAnswer = {
    rows: [],
    csv: '',
    content_hash: '',
    weekly: '',
    monthly: '',
    totals: new Map(),
    read: 0,
    duplicates: 0,
    rejected: {},
  }
  const sums: Sums = new Map()
  for (const source of sources) {
    const accepted: UsageRecord[] = []
    for (const raw of source.records) {
      answer.read += 1
      const record = readRecord(raw, source.timezone, registry)
      if (typeof record === 'string') answer.rejected[record] = (answer.rejected[record] ?? 0) + 1
      else accepted.push(record)
    }
    const unique = deduplicate(accepted)
    answer.duplicates += accepted.length - unique.length
    for (const record of unique) {
      if (!isPublic(record, source, registry)) continue
      const models = sums.get(record.date) ?? new Map<string, bigint>()
      models.set(record.model, (models.get(record.model) ?? 0n) + record.prompt + record.completion)
      sums.set(record.date, models)
    }
  }
  for (const date of [...sums.keys()].sort()) {
    if (date < DATASET_START || date >= asOf.slice(0, 10)) continue
    const ranked = rank(date, sums.get(date) ?? new Map())
    if (ranked.length === 0) continue
    answer.rows.push(...ranked)
    answer.totals.set(date, sum(ranked.map((row) => BigInt(row.total_tokens))))
  }
  const published = new Map([...sums].filter(([date]) => answer.totals.has(date)))
  answer.weekly = toPeriodCsv(rankPeriods(published, mondayOf))
  answer.monthly = toPeriodCsv(rankPeriods(published, firstOfMonth))
  answer.csv = toCsv(answer.rows)
  answer.content_hash = `sha256:${createHash('sha256').update(answer.csv).digest('hex')}`
  return answer
}

/** A usage record, or the reason why the raw one is rejected. */
function readRecord(raw: RawRecord, timezone: string, registry: RegistryModel[]): UsageRecord | string {
  const timestamp = parseTimestamp(raw.timestamp, timezone)
  if (timestamp === undefined) return 'invalid_timestamp'
  const date = utcDate(timestamp)
  if (date < FIRST_CREDIBLE_DATE || date > LAST_CREDIBLE_DATE) return 'invalid_timestamp'
  if (!isModelSlug(raw.model_permaslug)) return 'invalid_model'
  const prompt = parseTokens(raw.prompt_tokens)
  const completion = parseTokens(raw.completion_tokens)
  if (prompt === undefined || completion === undefined) return 'invalid_token_count'
  if (!['', 'public', 'private'].includes(raw.visibility)) return 'invalid_visibility'
  return {
    timestamp,
    date,
    model: resolveAlias(raw.model_permaslug, registry),
    prompt,
    completion,
    request_id: raw.request_id,
    visibility: raw.visibility,
    raw,
  }
}

/** The clean set of a source: its records as they stand in a file, without those that are rejected and repeated. */
export function cleanRecords({ records, timezone }: OracleSource, registry: RegistryModel[]): RawRecord[] {
  const read = records.map((raw) => readRecord(raw, timezone, registry))
  return deduplicate(read.filter((record) => typeof record !== 'string')).map((record) => record.raw)
}

/** Microseconds since 1970, later digits cut off; undefined when the text is no instant. */
export function parseTimestamp(text: string, timezone: string): bigint | undefined {
  const form = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:(Z)|([+-])(\d{2}):(\d{2}))?$/.exec(
    text,
  )
  if (form === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', zulu, sign, offsetHours, offsetMinutes] = form
  const wholeSeconds = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const wallClock = Date.parse(`${wholeSeconds}Z`)
  // `Date` turns 30 February into March: a date that comes back as another text is not in the calendar.
  if (Number.isNaN(wallClock) || new Date(wallClock).toISOString().slice(0, 19) !== wholeSeconds) return undefined
  const microseconds = BigInt(wallClock) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
  if (zulu !== undefined) return microseconds
  if (sign === undefined) return microseconds - BigInt(zoneOffset(timezone, wallClock)) * 1000n
  const offset = (BigInt(offsetHours ?? 0) * 60n + BigInt(offsetMinutes ?? 0)) * 60_000_000n
  return sign === '+' ? microseconds - offset : microseconds + offset
}

/** Milliseconds by which the clocks of `timezone` are ahead of UTC when they show `wallClock`. */
function zoneOffset(timezone: string, wallClock: number): number {
  const first = offsetAt(timezone, wallClock)
  return offsetAt(timezone, wallClock - first)
}

function offsetAt(timezone: string, instant: number): number {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
  return Date.parse(`${clock.format(instant).replace(' ', 'T')}Z`) - instant
}

function utcDate(microseconds: bigint): string {
  const inDay = ((microseconds % MICROSECONDS_PER_DAY) + MICROSECONDS_PER_DAY) % MICROSECONDS_PER_DAY
  return new Date(Number((microseconds - inDay) / 1000n)).toISOString().slice(0, 10)
}

/** Counting 8: digits, perhaps a plus, perhaps a zero fraction, perhaps spaces around; at most 2^53 − 1. */
export function parseTokens(text: string): bigint | undefined {
  if (text === '') return 0n
  if (!/^ *\+?[0-9]+(\.0+)? *$/.test(text)) return undefined
  const count = BigInt(text.replaceAll(/[ +]|\..*/g, ''))
  return count <= MAX_TOKENS ? count : undefined
}

/** Counting 6. */
export function isModelSlug(text: string): boolean {
  const characters = [...text]
  const seen = asSeen(text)
  if (seen === '' || characters.length > 300) return false
  if (/[\p{Cc};\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/u.test(text)) return false
  const cells = seen.split(/[,|"']/).map((cell) => cell.trimStart())
  return !cells.some((cell) => '=+-@＝＋－＠'.includes(cell[0] ?? ' ')) && seen.toLowerCase() !== 'other'
}

/** Counting 2: how a name reads. */
function asSeen(text: string): string {
  return text
    .replaceAll(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, '')
    .normalize('NFC')
    .trim()
}

/** The name that the registry gives to a model; an unlisted `base:variant` takes the base's and keeps its suffix. */
function resolveAlias(name: string, registry: RegistryModel[]): string {
  const listed = findModel(name, registry) ?? findModel(asSeen(name), registry)
  if (listed !== undefined) return listed.model_permaslug
  const alike = registry.find((model) =>
    [model.model_permaslug, ...model.aliases].some((each) => asSeen(each) === asSeen(name)),
  )
  if (alike !== undefined) return alike.model_permaslug
  const { base, suffix } = splitVariant(asSeen(name))
  const baseModel = findModel(base, registry)
  return baseModel === undefined ? asSeen(name) : baseModel.model_permaslug + suffix
}

function findModel(name: string, registry: RegistryModel[]): RegistryModel | undefined {
  return registry.find((model) => model.model_permaslug === name || model.aliases.includes(name))
}

function splitVariant(name: string): { base: string; suffix: string } {
  const colon = name.lastIndexOf(':')
  return colon < 1 ? { base: name, suffix: '' } : { base: name.slice(0, colon), suffix: name.slice(colon) }
}

/** Counting 7: one copy for each (request_id, UTC date); a record without an id is never a copy. */
function deduplicate(records: UsageRecord[]): UsageRecord[] {
  const kept = new Map<string, UsageRecord>()
  const unnamed: UsageRecord[] = []
  for (const record of records) {
    if (record.request_id === '') {
      unnamed.push(record)
      continue
    }
    const key = `${record.date} ${record.request_id}`
    const rival = kept.get(key)
    if (rival === undefined || compareCopies(record, rival) > 0) kept.set(key, record)
  }
  return [...unnamed, ...kept.values()]
}

/**
 * Positive when `a` stays and `b` goes. Cost and API key come after visibility; they are not compared here, since
 * copies that differ in nothing else publish the same.
 */
function compareCopies(a: UsageRecord, b: UsageRecord): number {
  return (
    compareBigInts(a.timestamp, b.timestamp) ||
    compareBigInts(a.prompt, b.prompt) ||
    compareBigInts(a.completion, b.completion) ||
    compareCodePoints(a.model, b.model) ||
    Number(a.visibility === 'private') - Number(b.visibility === 'private')
  )
}

/** Forms of names that tell a customer, of those that tests make. */
const PRIVATE_NAME = /^ft:|\\|:prod$|^\uff5e/

/** A record's own visibility wins over the source's, which wins over the registry's. Private names have to be listed. */
function isPublic(record: UsageRecord, source: OracleSource, registry: RegistryModel[]): boolean {
  const listed = registry.find(({ model_permaslug }) => model_permaslug === record.model)
  if (PRIVATE_NAME.test(record.model) && listed?.public !== true) return false
  if (record.visibility !== '') return record.visibility === 'public'
  if (source.visibility !== 'registry') return source.visibility === 'public'
  const model = findModel(record.model, registry) ?? findModel(splitVariant(record.model).base, registry)
  return model?.public ?? false
}

/** The top 50 by tokens, ties by code point, then everything else as `other`; models with nothing are no models. */
function rank(date: string, models: Map<string, bigint>): OracleRow[] {
  const ranked = [...models]
    .filter(([, tokens]) => tokens > 0n)
    .sort(([slugA, tokensA], [slugB, tokensB]) => compareBigInts(tokensB, tokensA) || compareCodePoints(slugA, slugB))
  const rows = ranked
    .slice(0, TOP_MODELS)
    .map(([slug, tokens]) => ({ date, model_permaslug: slug, total_tokens: String(tokens) }))
  const rest = ranked.slice(TOP_MODELS).map(([, tokens]) => tokens)
  return rest.length === 0 ? rows : [...rows, { date, model_permaslug: 'other', total_tokens: String(sum(rest)) }]
}

export interface OraclePeriodRow extends OracleRow {
  days: number
}

/** Counting 16: every period from the sums of all models of its published dates. */
export function rankPeriods(sums: Sums, firstDateOf: (date: string) => string): OraclePeriodRow[] {
  const periods: Sums = new Map()
  const days = new Map<string, number>()
  for (const [date, models] of sums) {
    if (![...models.values()].some((tokens) => tokens > 0n)) continue
    const first = firstDateOf(date)
    const own = periods.get(first) ?? new Map<string, bigint>()
    for (const [model, tokens] of models) own.set(model, (own.get(model) ?? 0n) + tokens)
    periods.set(first, own)
    days.set(first, (days.get(first) ?? 0) + 1)
  }
  return [...periods.keys()]
    .sort()
    .flatMap((first) =>
      rank(first, periods.get(first) ?? new Map()).map((row) => ({ ...row, days: days.get(first) ?? 0 })),
    )
}

/** The Monday of the week of a date. */
export function mondayOf(date: string): string {
  const day = new Date(`${date}T00:00:00Z`)
  const sinceMonday = (day.getUTCDay() + 6) % 7
  return new Date(day.getTime() - sinceMonday * 86_400_000).toISOString().slice(0, 10)
}

export function firstOfMonth(date: string): string {
  return `${date.slice(0, 7)}-01`
}

function sum(counts: bigint[]): bigint {
  return counts.reduce((total, count) => total + count, 0n)
}

function compareBigInts(a: bigint, b: bigint): number {
  return a === b ? 0 : a > b ? 1 : -1
}

/** By code point, which is not the order of JavaScript strings: U+FF5E sorts before U+1F600. */
export function compareCodePoints(a: string, b: string): number {
  const left = Array.from(a, (character) => character.codePointAt(0) ?? 0)
  const right = Array.from(b, (character) => character.codePointAt(0) ?? 0)
  for (const [index, point] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    if (point !== other) return point - other
  }
  return left.length - right.length
}

/** Canonical CSV: header, minimal quoting, LF, no byte order mark. Rows of weeks and months have days. */
export function toCsv(rows: readonly (OracleRow & { days?: number | undefined })[]): string {
  const days = (value: number | string | undefined) => (value === undefined ? '' : `,${value}`)
  const lines = rows.map((row) => `${row.date},${quoteCsv(row.model_permaslug)},${row.total_tokens}${days(row.days)}\n`)
  return `date,model_permaslug,total_tokens${days(rows[0]?.days && 'days')}\n${lines.join('')}`
}

function toPeriodCsv(rows: OraclePeriodRow[]): string {
  const lines = rows.map((row) => `${row.date},${quoteCsv(row.model_permaslug)},${row.total_tokens},${row.days}\n`)
  return `date,model_permaslug,total_tokens,days\n${lines.join('')}`
}

function quoteCsv(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
