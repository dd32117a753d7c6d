import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import type { InputFile } from '../raw/files/find.ts'

/** The form of the state. */
const STATE_VERSION = 1

export interface StateFile {
  file_id: number
  name: string
  bytes: bigint
  /** The modification time in nanoseconds. */
  modified: bigint
  sha256: string
  reading: string
  /** The archive folder of a missing file whose records are kept. */
  kept: string | null
}

/** A file with its record counts, which are slow to sum. */
export interface KnownFile extends StateFile {
  /** Accepted records of plausible dates that are not archived. */
  open_records: bigint
  /** Records with a `request_id`, implausible dates included: they may become plausible. */
  identified_records: bigint
  /** Records without a `request_id`, implausible dates included. */
  unidentified_records: bigint
}

export interface HashedFile extends InputFile {
  sha256: string
  reading: string
}

/** Creates the tables of the state. Throws `BuildError` if another version wrote it. */
export async function openState(database: Database): Promise<void> {
  await database.run('state/create_version')
  const [known] = await database.rows<{ version: number }>('state/version')
  if (known !== undefined && known.version !== STATE_VERSION) {
    throw new BuildError(
      `another version of Tokenboard wrote the state in DATA_DIR/state: it is state version ${known.version}, and this program ` +
        `knows ${STATE_VERSION}. Build with that version, or move DATA_DIR/state elsewhere, and all raw files are read again`,
    )
  }
  await database.script('state/create')
  if (known === undefined) await database.run('state/set_version', { version: STATE_VERSION })
}

/**
 * A hash of the files that the state knows and of its version; undefined for a new state. All else in it follows from them.
 */
export async function fingerprint(database: Database): Promise<string | undefined> {
  const versions = await database.rows<{ name: string }>('state/version_table')
  if (versions.length === 0) return undefined
  const [state] = await database.rows<{ fingerprint: string }>('state/fingerprint')
  return state?.fingerprint
}

export async function takeOver(
  database: Database,
  files: readonly Pick<StateFile, 'file_id'>[],
  reading: string,
): Promise<void> {
  if (files.length === 0) return
  await database.run('state/take_over', { file_ids: files.map(({ file_id }) => `${file_id}`), reading })
}

/** About how many rows the sums of all files are. */
export async function countSums(database: Database): Promise<bigint> {
  const [counted] = await database.rows<{ rows: bigint }>('state/count_sums')
  return counted?.rows ?? 0n
}

/** Notes that the selected source was read again because this version reads it differently. */
export async function noteReread(database: Database): Promise<void> {
  await database.run('state/note_reread')
}

/** Whether a source was read again since the last complete build. */
export async function wasReread(database: Database): Promise<boolean> {
  return (await database.rows<{ source: string }>('state/rereads')).length > 0
}

export async function forgetRereads(database: Database): Promise<void> {
  await database.run('state/forget_rereads')
}

export async function listFiles(database: Database): Promise<StateFile[]> {
  type Row = { [Key in keyof StateFile]: StateFile[Key] }
  return database.rows<Row>('state/files')
}

export async function knownFiles(database: Database): Promise<KnownFile[]> {
  type Row = { [Key in keyof KnownFile]: KnownFile[Key] }
  return database.rows<Row>('state/files_with_records')
}

/** Adds files and returns their new numbers, in order. */
export async function enterFiles(
  database: Database,
  source: string,
  files: readonly (Pick<HashedFile, 'name' | 'bytes' | 'modified' | 'sha256' | 'reading'> & { kept?: string })[],
): Promise<number[]> {
  const [next] = await database.rows<{ file_id: number }>('state/next_file')
  const numbers = files.map((_, position) => (next?.file_id ?? 1) + position)
  await database.append(
    'state_files',
    files.map(({ name, bytes, modified, sha256, reading, kept }, position) => {
      return [`${numbers[position]}`, source, name, `${bytes}`, `${modified}`, sha256, reading, kept ?? null]
    }),
  )
  return numbers
}

/** Removes files. The days of their records with ids are compared again. */
export async function forgetFiles(database: Database, files: readonly StateFile[]): Promise<void> {
  if (files.length === 0) return
  const file_ids = files.map((file) => `${file.file_id}`)
  await touchFiles(database, file_ids)
  await database.run('state/drop_sums', { file_ids })
  await database.run('state/drop_notes', { file_ids })
  await database.run('state/drop_ids', { file_ids })
  await database.run('state/drop_shared', { file_ids })
  await database.run('state/drop_files', { file_ids })
}

/** Removes surplus and ties of days without records. */
export async function forgetEmptyDays(database: Database): Promise<void> {
  await database.run('state/forget_stray_surplus')
  await database.run('state/forget_stray_ties')
}

/** Marks the days of records with ids in these files to be compared again. */
export async function touchFiles(database: Database, file_ids: readonly string[]): Promise<void> {
  if (file_ids.length > 0) await database.run('state/touch_files', { file_ids })
}

export async function renameFiles(
  database: Database,
  files: readonly { known: KnownFile; file: InputFile }[],
): Promise<void> {
  const changed = files.filter(
    ({ known, file }) =>
      known.name !== file.name || known.bytes !== BigInt(file.bytes) || known.modified !== file.modified,
  )
  if (changed.length === 0) return
  await database.run('state/create_renamed')
  await database.append(
    'core_renamed',
    changed.map(({ known, file: { name, bytes, modified } }) => [`${known.file_id}`, name, `${bytes}`, `${modified}`]),
  )
  await database.run('state/rename')
}

export async function markKept(database: Database, { file_id }: StateFile, kept: string): Promise<void> {
  await database.run('state/set_kept', { file_id, kept })
}
