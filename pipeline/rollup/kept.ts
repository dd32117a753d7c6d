import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { type Files, hashFile, isMissing, namesIn, readTextIfAny } from '../files.ts'
import { parseJson } from '../json.ts'
import { enterFiles, forgetFiles, type HashedFile, type KnownFile, renameFile, touchFiles } from './state.ts'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** `file.json` of a kept file: what it was, and the checksums of what is kept of it. */
const KeptFile = z.strictObject({
  version: z.literal(1),
  source: z.string(),
  name: z.string(),
  bytes: z.int().nonnegative(),
  modified: z.string().regex(/^-?\d+$/),
  sha256: Sha256,
  reading: z.string(),
  sums_sha256: Sha256,
  /** Absent where the file had no records with a `request_id`, or was read when none were kept. */
  records_sha256: Sha256.optional(),
})
type KeptFile = z.infer<typeof KeptFile>

const DESCRIPTION = 'file.json'
const SUMS = 'sums.parquet'
const RECORDS = 'records.parquet'

/**
 * What is kept of raw files for the day when they are gone (`"on_missing": "keep"`): beside the state the records with
 * a `request_id` of each file at hand, and in the archive, one folder each, the files that are gone.
 */
export class KeptFiles {
  readonly #recordsFolder: string
  readonly #keptFolder: string
  readonly #database: Database
  readonly #files: Files

  constructor(options: { stateDir: string; keptDir: string; database: Database; files: Files }) {
    this.#recordsFolder = join(options.stateDir, 'records')
    this.#keptFolder = options.keptDir
    this.#database = options.database
    this.#files = options.files
  }

  /** Enters the kept files of a source that the state does not know, and forgets those that the archive has not. */
  async adopt(source: string, known: readonly KnownFile[]): Promise<void> {
    const archived = await this.#list(source)
    const removed = known.filter((file) => file.kept !== null && !archived.has(file.kept))
    await forgetFiles(this.#database, removed)
    for (const [kept, file] of archived) {
      if (known.some((entry) => entry.kept === kept)) continue
      // A build that was stopped between the archive and the state still knows it as a file.
      const former = known.filter(({ name, sha256 }) => name === file.name && sha256 === file.sha256)
      await forgetFiles(this.#database, former)
      const path = await this.#proven(kept, SUMS, file.sums_sha256)
      const { bytes, sha256, reading, name } = file
      const entry = { name, bytes, modified: BigInt(file.modified), sha256, reading, kept }
      const [file_id = 0] = await enterFiles(this.#database, source, [entry])
      await this.#database.run('kept/read_sums', { file_id, path })
      await touchFiles(this.#database, [`${file_id}`])
    }
  }

  /** Where the records of a file lie that is no longer there, or undefined when none were kept. */
  async recordsOf(file: KnownFile): Promise<string | undefined> {
    if (file.kept === null) {
      const path = this.#recordsPath(file)
      return (await exists(path)) ? path : undefined
    }
    const { records_sha256 } = await this.#describe(file.kept)
    return records_sha256 === undefined ? undefined : this.#proven(file.kept, RECORDS, records_sha256)
  }

  /** Whether the records of a file at hand are kept already. */
  async hasRecords(file: Pick<HashedFile, 'sha256' | 'reading'>): Promise<boolean> {
    return exists(this.#recordsPath(file))
  }

  /** Keeps the records of a file at hand, those of the view `core_identified_usage`. */
  async storeRecords(file: Pick<HashedFile, 'sha256' | 'reading'>): Promise<void> {
    const path = this.#recordsPath(file)
    await this.#files.makeFolder(this.#recordsFolder)
    await this.#database.run('kept/write_records', { path: `${path}.next` })
    await this.#files.flush(`${path}.next`)
    await this.#files.rename(`${path}.next`, path)
  }

  /** Moves a file that is gone, or whose former content is, into the archive. What the state has of it stays. */
  async keep(source: string, file: KnownFile): Promise<void> {
    const kept = `${shortHash(`${source}\n${file.name}`)}-${file.sha256.slice(0, 12)}`
    const staging = join(this.#keptFolder, '.staging')
    await this.#files.remove(staging)
    await this.#files.makeFolder(staging)
    const sums = join(staging, SUMS)
    await this.#database.run('kept/write_sums', { file_id: file.file_id, path: sums })
    await this.#files.flush(sums)
    const records = this.#recordsPath(file)
    const hasRecords = await exists(records)
    if (hasRecords) await this.#files.copy(records, join(staging, RECORDS))
    const description: KeptFile = {
      version: 1,
      source,
      name: file.name,
      bytes: Number(file.bytes),
      modified: `${file.modified}`,
      sha256: file.sha256,
      reading: file.reading,
      sums_sha256: (await hashFile(sums)).sha256,
      ...(hasRecords && { records_sha256: (await hashFile(records)).sha256 }),
    }
    await this.#files.write(join(staging, DESCRIPTION), `${JSON.stringify(description, undefined, 2)}\n`)
    await this.#files.flush(staging)
    await this.#files.remove(join(this.#keptFolder, kept))
    await this.#files.rename(staging, join(this.#keptFolder, kept))
    await renameFile(this.#database, file, { name: file.name, modified: file.modified, kept })
  }

  /** Removes a kept file whose content is there again, or was replaced, from the archive. */
  async remove({ kept }: KnownFile): Promise<void> {
    if (kept !== null) await this.#files.remove(join(this.#keptFolder, kept))
  }

  /** Removes the records of files that the state does not know any more. */
  async tidy(): Promise<void> {
    const known = await this.#database.rows<Pick<HashedFile, 'sha256' | 'reading'>>('state/readings')
    const wanted = new Set(known.map((file) => this.#recordsPath(file)))
    for (const name of await namesIn(this.#recordsFolder)) {
      const path = join(this.#recordsFolder, name)
      if (!wanted.has(path)) await this.#files.remove(path)
    }
  }

  async #list(source: string): Promise<Map<string, KeptFile>> {
    const names = (await namesIn(this.#keptFolder)).filter((name) => !name.startsWith('.'))
    const all = await Promise.all(names.map(async (name) => [name, await this.#describe(name)] as const))
    return new Map(all.filter(([, file]) => file.source === source))
  }

  async #describe(kept: string): Promise<KeptFile> {
    const path = join(this.#keptFolder, kept, DESCRIPTION)
    const text = await readTextIfAny(path)
    if (text === undefined) throw new BuildError(`${path} is missing; the archive is damaged`)
    return parseJson(KeptFile, text, path, BuildError)
  }

  async #proven(kept: string, name: string, sha256: string): Promise<string> {
    const path = join(this.#keptFolder, kept, name)
    if (!(await exists(path)) || (await hashFile(path)).sha256 !== sha256) {
      throw new BuildError(`${path} is missing or damaged: its checksum is not that of ${DESCRIPTION} beside it`)
    }
    return path
  }

  #recordsPath({ sha256, reading }: Pick<HashedFile, 'sha256' | 'reading'>): string {
    return join(this.#recordsFolder, `${sha256}-${reading}.parquet`)
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
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
