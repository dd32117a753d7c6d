import { hash } from 'node:crypto'
import { access, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { verifyChecksums, writeChecksums } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { type Files, isMissing, namesIn, readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { ARCHIVE_VERSION, archiveStaging, OTHER_VERSION, RESTORE } from './archive.ts'
import {
  enterFiles,
  forgetFiles,
  type HashedFile,
  type KnownFile,
  markKept,
  type StateFile,
  touchFiles,
} from './state.ts'

const KeptFile = z.strictObject({
  version: z.literal(ARCHIVE_VERSION, { error: OTHER_VERSION }),
  source: z.string(),
  name: z.string(),
  bytes: z.int().nonnegative(),
  modified: z.string().regex(/^-?\d+$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  reading: z.string(),
  /** Whether the state had another file of this name when this one was kept. */
  is_name_taken: z.boolean(),
})
type KeptFile = z.infer<typeof KeptFile>

const DESCRIPTION = 'file.json'
const SUMS = 'sums.parquet'
/** Missing if the file had no records with a `request_id`, or if no build stored them before the file went missing. */
const RECORDS = 'records.parquet'

interface KeptFilesOptions {
  stateDir: string
  keptDir: string
  database: Database
  files: Files
}

/**
 * Stores what must outlive raw files (`"on_missing": "keep"`). The records with a `request_id` of each existing file
 * are next to the state. Each missing file has a folder with checksums in the archive.
 */
export class KeptFiles {
  readonly #recordsFolder: string
  readonly #keptFolder: string
  readonly #database: Database
  readonly #files: Files
  readonly #kept: Map<string, KeptFile>

  private constructor({ stateDir, keptDir, database, files }: KeptFilesOptions, kept: Map<string, KeptFile>) {
    this.#recordsFolder = join(stateDir, 'records')
    this.#keptFolder = keptDir
    this.#database = database
    this.#files = files
    this.#kept = kept
  }

  /** Opens and verifies the kept files. Throws `BuildError` that names a damaged one. */
  static async open(options: KeptFilesOptions): Promise<KeptFiles> {
    const names = (await namesIn(options.keptDir)).filter((name) => !name.startsWith('.'))
    const kept = await sideBySide(names, async (name) => {
      return [name, await readKept(await realpath(join(options.keptDir, name)))] as const
    })
    return new KeptFiles(options, new Map(kept))
  }

  /**
   * Makes the state agree with the archive: adds kept files of a source, and removes those that the archive lacks. Returns
   * whether it had to.
   */
  async adopt(source: string, known: readonly StateFile[]): Promise<boolean> {
    await this.#putBack(known)
    const archived = new Map([...this.#kept].filter(([, file]) => file.source === source))
    const removed = known.filter((file) => file.kept !== null && !archived.has(file.kept))
    await forgetFiles(this.#database, removed)
    const entered = new Set(known.map(({ kept }) => kept))
    const added = [...archived].filter(([kept]) => !entered.has(kept))
    for (const [kept, file] of added) {
      // A build that stopped after it wrote the archive left this file as an ordinary one in the state.
      const previous = known.filter(({ name, sha256 }) => name === file.name && sha256 === file.sha256)
      await forgetFiles(this.#database, previous)
      const { bytes, sha256, reading, name } = file
      const entry = { name, bytes, modified: BigInt(file.modified), sha256, reading, kept }
      const [file_id = 0] = await enterFiles(this.#database, source, [entry])
      await this.#database.run('kept/read_sums', { file_id, path: join(this.#keptFolder, kept, SUMS) })
      await touchFiles(this.#database, [`${file_id}`])
    }
    return removed.length + added.length > 0
  }

  /** Whether a later file of the same name replaces a kept one. If all its records have a `request_id`, both stay. */
  isReplaceable({ kept, unidentified_records }: KnownFile): boolean {
    return kept !== null && unidentified_records > 0n && this.#kept.get(kept)?.is_name_taken === false
  }

  /** The path of a missing file's records; undefined if none were stored. */
  async recordsOf(file: StateFile): Promise<string | undefined> {
    const path = file.kept === null ? this.#recordsPath(file) : join(this.#keptFolder, file.kept, RECORDS)
    return (await exists(path)) ? path : undefined
  }

  async hasRecords(file: Pick<HashedFile, 'sha256' | 'reading'>): Promise<boolean> {
    return exists(this.#recordsPath(file))
  }

  /** Stores the records of an existing file, from the view `core_identified_usage`. */
  async storeRecords(file: Pick<HashedFile, 'sha256' | 'reading'>): Promise<void> {
    const path = this.#recordsPath(file)
    await this.#files.makeFolder(this.#recordsFolder)
    await this.#database.run('kept/write_records', { path: `${path}.next` })
    await this.#files.flush(`${path}.next`)
    await this.#files.rename(`${path}.next`, path)
  }

  /** Moves a missing file into the archive. Its sums in the state stay. */
  async keep(source: string, file: StateFile, isNameTaken: boolean): Promise<void> {
    const kept = `${shortHash(`${source}\n${file.name}`)}-${file.sha256.slice(0, 12)}`
    const staging = archiveStaging(this.#keptFolder)
    await this.#files.remove(staging)
    await this.#files.makeFolder(staging)
    const sums = join(staging, SUMS)
    await this.#database.run('kept/write_sums', { file_id: file.file_id, path: sums })
    await this.#files.flush(sums)
    const records = this.#recordsPath(file)
    if (await exists(records)) await this.#files.copy(records, join(staging, RECORDS))
    const description: KeptFile = {
      version: ARCHIVE_VERSION,
      source,
      name: file.name,
      bytes: Number(file.bytes),
      modified: `${file.modified}`,
      sha256: file.sha256,
      reading: file.reading,
      is_name_taken: isNameTaken,
    }
    await this.#files.write(join(staging, DESCRIPTION), `${JSON.stringify(description, undefined, 2)}\n`)
    await writeChecksums(staging, this.#files)
    await this.#setAside(kept)
    await this.#files.rename(staging, join(this.#keptFolder, kept))
    this.#kept.set(kept, description)
    await markKept(this.#database, file, kept)
  }

  /** Takes a kept file out of the archive, because its content is back or was replaced. `tidy` deletes it. */
  async remove({ kept }: StateFile): Promise<void> {
    if (kept === null) return
    this.#kept.delete(kept)
    await this.#setAside(kept)
  }

  /** Deletes files taken out of the archive, and stored records of files that the state does not have. */
  async tidy(): Promise<void> {
    const staging = archiveStaging(this.#keptFolder)
    for (const name of await namesIn(this.#keptFolder)) {
      const path = join(this.#keptFolder, name)
      if (path === staging || name.startsWith(ASIDE)) await this.#files.remove(path)
    }
    const stored = await namesIn(this.#recordsFolder)
    if (stored.length === 0) return
    const known = await this.#database.rows<Pick<HashedFile, 'sha256' | 'reading'>>('state/contents')
    const wanted = new Set(known.map((file) => this.#recordsPath(file)))
    for (const name of stored) {
      const path = join(this.#recordsFolder, name)
      if (!wanted.has(path)) await this.#files.remove(path)
    }
  }

  /** Renames the folder in one step, because a partly deleted one would count as damaged. */
  async #setAside(kept: string): Promise<void> {
    const aside = join(this.#keptFolder, asideName(kept))
    await this.#files.remove(aside)
    if (await exists(join(this.#keptFolder, kept))) await this.#files.rename(join(this.#keptFolder, kept), aside)
  }

  /** Restores what a stopped build took out of the archive. The raw file may be missing again. */
  async #putBack(known: readonly StateFile[]): Promise<void> {
    for (const { kept } of known) {
      if (kept === null || this.#kept.has(kept)) continue
      const aside = join(this.#keptFolder, asideName(kept))
      if (!(await exists(aside))) continue
      const description = await readKept(await realpath(aside))
      await this.#files.rename(aside, join(this.#keptFolder, kept))
      this.#kept.set(kept, description)
    }
  }

  #recordsPath({ sha256, reading }: Pick<HashedFile, 'sha256' | 'reading'>): string {
    return join(this.#recordsFolder, `${sha256}-${reading}.parquet`)
  }
}

const ASIDE = '.removed'

function asideName(kept: string): string {
  return `${ASIDE}-${kept}`
}

async function readKept(folder: string): Promise<KeptFile> {
  await verifyChecksums(folder, { remedy: RESTORE })
  const path = join(folder, DESCRIPTION)
  return parseJson(KeptFile, (await readTextIfAny(path)) ?? '', path, BuildError)
}

function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 12)
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
