import type { Database } from '../database.ts'
import type { Origin } from '../engine.ts'
import type { NoteKind } from '../schemas/schema.ts'
import type { ReadingNote, RollupRequest } from './engine.ts'

const NAMES_SHOWN = 10

/** Hands over what should be known of how a source was read, and says it. */
export async function reportNotes(database: Database, source: Origin, request: RollupRequest): Promise<void> {
  type Row = Omit<{ [Key in keyof ReadingNote]: ReadingNote[Key] }, 'source'>
  const notes = await database.rows<Row>('rollup/notes')
  for (const note of notes) request.onReadingNote({ source: source.name, ...note })
  for (const [kind, ofKind] of Map.groupBy(notes, (note) => note.kind)) {
    request.onNotice(`source ${JSON.stringify(source.name)}: ${SENTENCES[kind](ofKind)}`)
  }
}

/** Without ids nobody can tell a record that was delivered twice. */
export async function reportIds(database: Database, { name }: Origin, request: RollupRequest): Promise<void> {
  const [ids] = await database.rows<{ records: bigint; identified_records: bigint }>('rollup/ids')
  if (ids === undefined || ids.records === 0n || ids.identified_records > 0n) return
  request.onNoRequestIds({ source: name, records: ids.records })
}

type Told = Pick<ReadingNote, 'name' | 'records' | 'tokens'>

const SENTENCES: Record<NoteKind, (notes: readonly Told[]) => string> = {
  outside_added: (notes) =>
    `${sumOf(notes)} stand beside prompt_tokens and completion_tokens and were added, as "outside_from" says: ${byName(notes)}`,
  outside_left: (notes) =>
    `${sumOf(notes)} were not added to prompt_tokens and completion_tokens, which include them before the date in ` +
    `"outside_from": ${byName(notes)}`,
  ignored_keys: (notes) => {
    const keys = [...new Set(notes.flatMap(({ name }): string[] => JSON.parse(name)))].sort()
    const records = notes.reduce((sum, note) => sum + note.records, 0n)
    return `${records} records have keys in their usage that are no tokens and count for nothing: ${list(keys.map((key) => JSON.stringify(key)))}`
  },
}

function sumOf(notes: readonly Told[]): string {
  const records = notes.reduce((sum, note) => sum + note.records, 0n)
  return `${notes.reduce((sum, { tokens }) => sum + BigInt(tokens), 0n)} tokens of ${records} records`
}

function byName(notes: readonly Told[]): string {
  return list(notes.map(({ name, tokens }) => `${name === '' ? 'no provider' : JSON.stringify(name)} ${tokens}`))
}

function list(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more}`
}
