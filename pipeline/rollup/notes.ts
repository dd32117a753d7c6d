import { dirname } from 'node:path'
import { z } from 'zod'
import type { Database } from '../base/database.ts'
import { jsonIfAny } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import type { UsageSource } from '../raw/engine.ts'
import type { ReadingNote } from '../raw/records.ts'
import type { NoteKind } from '../raw/schemas/schema.ts'
import type { RollupRequest } from './engine.ts'

const NAMES_SHOWN = 10

export async function reportNotes(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  type Row = Omit<{ [Key in keyof ReadingNote]: ReadingNote[Key] }, 'source'>
  const all = await database.rows<Row>('result/notes')
  const lastFiles = all.some(({ kind }) => kind === 'more_pages') ? await lastInFolders(database) : []
  const notes = all.filter(({ kind, name }) => kind !== 'more_pages' || lastFiles.includes(name))
  for (const note of notes) request.onReadingNote({ source: source.name, ...note })
  for (const [kind, ofKind] of Map.groupBy(notes, (note) => note.kind)) {
    request.onNotice(`source ${JSON.stringify(source.name)}: ${SENTENCES[kind](ofKind)}`)
  }
}

const IN_ORDER = new Intl.Collator('en', { numeric: true })

/** The last file at hand in each folder: page-10.json comes after page-9.json. */
async function lastInFolders(database: Database): Promise<string[]> {
  const names = (await database.rows<{ name: string }>('result/file_names')).map(({ name }) => name)
  return [...Map.groupBy(names, (name) => dirname(name)).values()].map((own) => {
    return own.reduce((last, name) => (IN_ORDER.compare(name, last) > 0 ? name : last))
  })
}

/** Reports records without an id, whose duplicates cannot be found. */
export async function reportIds(database: Database, { name }: UsageSource, request: RollupRequest): Promise<void> {
  const [without] = await database.rows<{ records: bigint; accepted_records: bigint }>('result/without_ids')
  if (without === undefined || without.records === 0n) return
  request.onNoRequestIds({ source: name, ...without })
}

/** Reports buckets that overlap others, with the files that have them: of the records alone, none is wrong. */
export async function reportOverlapping(
  database: Database,
  source: UsageSource,
  request: RollupRequest,
): Promise<void> {
  type Row = { date: string; records: bigint; files: string[] }
  const dates = await database.rows<Row>('result/overlapping')
  const [first] = dates
  if (first === undefined) return
  const records = recordsOf(dates)
  const more = dates.length > 1 ? ` and on ${counted(dates.length - 1, 'more date')}` : ''
  request.onNotice(
    `source ${JSON.stringify(source.name)}: ${counted(records, 'record')} of buckets ${records === 1n ? 'was' : 'were'} rejected as overlapping_bucket, because ` +
      `other buckets of the same model have their usage too: on ${first.date} in ${list(first.files)}${more}; keep exports of one ` +
      'bucket width and grouping',
  )
}

type NoteCounts = Pick<ReadingNote, 'name' | 'records' | 'tokens'>

const SENTENCES: Record<NoteKind, (notes: readonly NoteCounts[]) => string> = {
  outside_added: (notes) =>
    `${sumOf(notes)} were added to prompt_tokens and completion_tokens, which do not include them ("outside_from"): ` +
    byName(notes),
  outside_left: (notes) =>
    `${sumOf(notes)} were not added to prompt_tokens and completion_tokens, which include them before the date in ` +
    `"outside_from": ${byName(notes)}`,
  ignored_keys: (notes) => {
    const keys = [...new Set(notes.flatMap(({ name }) => listed(name)))].sort()
    const records = recordsOf(notes)
    const have = records === 1n ? 'record has' : 'records have'
    return `${records} ${have} usage keys that do not count tokens; they were ignored: ${list(keys)}`
  },
  over_midnight: (notes) =>
    `${sumOf(notes)} are of buckets that end after the UTC day on which they begin, and count on that day: export buckets of ` +
    'a day or less that begin at midnight UTC',
  absent_path: (notes) =>
    notes.map(({ name, records }) => `${name} is in no record of its ${records}; check the spelling`).join('; '),
  cut_line: (notes) =>
    `the last line is not read, for it has no line end: it is cut, or still being written: ${namesOf(notes)}`,
  more_pages: (notes) =>
    `the last page says that more pages follow (has_more, next_page, totalPages or cursors); fetch them too: ${namesOf(notes)}`,
}

/** The quoted names of a JSON list. Old states have lists that are cut; their whole names are used. */
function listed(names: string): string[] {
  const whole = `${names.slice(0, names.lastIndexOf(','))}]`
  const list = z.array(z.string()).safeParse(jsonIfAny(names) ?? jsonIfAny(whole))
  return (list.data ?? []).map((name) => JSON.stringify(name))
}

function recordsOf(notes: readonly Pick<NoteCounts, 'records'>[]): bigint {
  return notes.reduce((sum, { records }) => sum + records, 0n)
}

function sumOf(notes: readonly NoteCounts[]): string {
  const tokens = notes.reduce((sum, note) => sum + BigInt(note.tokens), 0n)
  const records = recordsOf(notes)
  return `${tokens} tokens of ${records} ${records === 1n ? 'record' : 'records'} (duplicates included)`
}

function byName(notes: readonly NoteCounts[]): string {
  return list(notes.map(({ name, tokens }) => `${name === '' ? 'no provider' : JSON.stringify(name)} ${tokens}`))
}

function namesOf(notes: readonly NoteCounts[]): string {
  return list(notes.map(({ name }) => name))
}

function list(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? ' and more' : ''
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more}`
}
