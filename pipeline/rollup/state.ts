import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import type { InputFile } from '../raw/files/find.ts'

/**
 * Raise this when the tables of the state change their form, and have `openState` bring older states up to it. Version 1
 * is that of 0.1.0.
 */
const STATE_VERSION = 2

/** A raw file as the state knows it. */
export interface StateFile {
  file_id: number
  name: string
  bytes: bigint
  /** When its content last changed, in nanoseconds. */
  modified: bigint
  sha256: string
  /** How its source had it read. */
  reading: string
  /** Where the archive holds it, for a file that is gone and whose records stay. */
  kept: string | null
}

/** The same with what tells whether it lost records: they are added up for that, so it is asked for seldom. */
export interface KnownFile extends StateFile {
  /** Records of dates that are neither archived nor misdated and that were not rejected. */
  open_records: bigint
  /** Records that may be repeated, of misdated days too: their time may come. */
  identified_records: bigint
  /** Records that have no `request_id`, of misdated days too. */
  unidentified_records: bigint
}

/** A raw file whose content is to enter the state. */
export interface HashedFile extends InputFile {
  sha256: string
  reading: string
}

/**
 * Makes the tables of the state, and takes over the state of version 0.1.0. Throws `BuildError` for a state that a newer
 * version wrote.
 */
export async function openState(database: Database): Promise<void> {
  await database.run('state/create_version')
  const [known] = await database.rows<{ version: number }>('state/version')
  if (known !== undefined && known.version > STATE_VERSION) {
    throw new BuildError(
      `a newer version of Tokenboard wrote the state in DATA_DIR/state: it is state version ${known.version}, and this program ` +
        `knows ${STATE_VERSION}. Build with the newer version, or restore DATA_DIR and PUBLIC_DIR from the backup that was made ` +
        'before the upgrade',
    )
  }
  await database.script('state/create')
  if (known !== undefined) return
  await database.transaction(async () => {
    await database.script('state/stop_older')
    await database.run('state/set_version', { version: STATE_VERSION })
  })
}

/** The files of the selected source that an earlier version read as this one does. */
export async function filesToTakeOver(
  database: Database,
  { reading, onlyWithIds }: { reading: string; onlyWithIds: boolean },
): Promise<StateFile[]> {
  const without = onlyWithIds ? await database.rows<{ file_id: number }>('state/without_ids') : []
  const excluded = new Set(without.map(({ file_id }) => file_id))
  return (await listFiles(database)).filter((file) => file.reading === reading && !excluded.has(file.file_id))
}

/** Gives files that an earlier version read, as this one does, the reading that this one would give them. */
export async function takeOver(database: Database, files: readonly StateFile[], reading: string): Promise<void> {
  if (files.length === 0) return
  await database.run('state/take_over', { file_ids: files.map(({ file_id }) => `${file_id}`), reading })
}

/** Notes that the selected source was read again because this version reads it differently. */
export async function noteReread(database: Database): Promise<void> {
  await database.run('state/note_reread')
}

/** Whether a source was read again for that since the last finished build. */
export async function wasReread(database: Database): Promise<boolean> {
  return (await database.rows<{ source: string }>('state/rereads')).length > 0
}

/** Notes that a build is done: what it changed is published. */
export async function forgetRereads(database: Database): Promise<void> {
  await database.run('state/forget_rereads')
}

/** The files of the selected source. */
export async function listFiles(database: Database): Promise<StateFile[]> {
  type Row = { [Key in keyof StateFile]: StateFile[Key] }
  return database.rows<Row>('state/files')
}

/** The files of the selected source with their records. */
export async function knownFiles(database: Database): Promise<KnownFile[]> {
  type Row = { [Key in keyof KnownFile]: KnownFile[Key] }
  return database.rows<Row>('state/files_with_records')
}

/** Enters files and returns the number that each of them has from now on, in their order. */
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

/** Forgets files; the days on which they may have repeated records of others are looked at again. */
export async function forgetFiles(database: Database, files: readonly StateFile[]): Promise<void> {
  if (files.length === 0) return
  const file_ids = files.map((file) => `${file.file_id}`)
  await touchFiles(database, file_ids)
  await database.run('state/drop_sums', { file_ids })
  await database.run('state/drop_notes', { file_ids })
  await database.run('state/drop_files', { file_ids })
}

/** Forgets what was repeated on days of which no record is left. */
export async function forgetStrayDays(database: Database): Promise<void> {
  await database.run('state/forget_stray_surplus')
  await database.run('state/forget_stray_ties')
}

/** Has the days looked at again on which files have records that may be repeated. */
export async function touchFiles(database: Database, file_ids: readonly string[]): Promise<void> {
  if (file_ids.length > 0) await database.run('state/touch_files', { file_ids })
}

/** Notes the names, sizes and times of change that files of the same content have now. */
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

/** Notes that the archive holds a file now, in a folder of this name. */
export async function markKept(database: Database, { file_id }: StateFile, kept: string): Promise<void> {
  await database.run('state/set_kept', { file_id, kept })
}
