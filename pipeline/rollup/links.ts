import { join } from 'node:path'
import { type Database, LowMemoryError } from '../base/database.ts'
import { isDuckDbError, meaningOf } from '../base/duckdb-errors.ts'
import { BuildError, isInterrupt, reasonOf } from '../base/errors.ts'
import type { Files } from '../base/files.ts'
import { counted } from '../base/numbers.ts'
import { sourceColumns } from '../raw/files/columns.ts'
import { Contents, isText } from '../raw/files/content.ts'
import type { InputFile } from '../raw/files/find.ts'
import { groupFiles, type InputGroup } from '../raw/files/group.ts'
import type { Documents } from '../raw/files/json-lines.ts'
import { type LinkedFile, linkFiles } from '../raw/files/link.ts'
import { keysWithoutRecords, listsOf } from '../raw/schemas/of-source.ts'
import type { Source } from '../raw/sources.ts'
import type { Progress } from './engine.ts'

/** Links to the raw files of one source, in groups that one query can read. */
export class Links {
  readonly #source: Source
  readonly #folder: string
  readonly #database: Database
  readonly #files: Files
  readonly #signal: AbortSignal
  readonly #linked: LinkedFile[] = []
  #widest: InputGroup | undefined
  #calls = 0

  constructor(
    source: Source,
    folder: string,
    { database, files, signal }: { database: Database; files: Files; signal: AbortSignal },
  ) {
    this.#source = source
    this.#folder = folder
    this.#database = database
    this.#files = files
    this.#signal = signal
  }

  /** Groups files by their headers. Empty CSV files are in no group. Scans files if there are no `contents`. */
  async groupsOf(files: readonly InputFile[], contents = this.read(files.filter(isText))): Promise<InputGroup[]> {
    this.#calls += 1
    const folder = join(this.#folder, `${this.#calls}`)
    await this.#files.makeFolder(folder)
    const wanted = sourceColumns(this.#source)
    const linked = await linkFiles(files, folder, { wanted, contents, documents: documentsOf(this.#source) })
    for (const file of linked) this.#linked.push(file)
    const groups = await groupFiles(this.#database, this.#source, linked)
    for (const group of groups) if (group.types.length > (this.#widest?.types.length ?? 0)) this.#widest = group
    return groups
  }

  /** Reads new files to their end. */
  read(files: readonly InputFile[], onProgress: (progress: Progress) => unknown = () => {}): Contents {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    let read = 0
    const onRead = (more: number) => {
      read += more
      onProgress({ share: read / bytes, bytes })
    }
    return new Contents(files, { wanted: sourceColumns(this.#source), signal: this.#signal, onRead })
  }

  get files(): readonly InputFile[] {
    return this.#linked
  }

  async naming(error: unknown): Promise<unknown> {
    if (error instanceof LowMemoryError) return this.#namingWidest(error)
    if (!(error instanceof Error) || error instanceof BuildError || isInterrupt(error)) return error
    const known = (['badQuote', 'notGzip'] as const).find((name) => isDuckDbError(error, name))
    const named = this.#linked.find(({ link }) => error.message.includes(link))
    if (named === undefined && known === undefined && !isDuckDbError(error, 'badContent')) return error
    const file = named ?? (await this.#findUnreadable())
    const name = file?.name ?? this.#oneOfThem()
    const reason = known ? meaningOf(known) : reasonOf(error).replaceAll(file?.link ?? name, name)
    return new BuildError(`${name} cannot be read whole: ${reason}`, { cause: error })
  }

  /** DuckDB holds many records at once, so files with very many columns need much memory, whatever their size. */
  #namingWidest(error: LowMemoryError): BuildError {
    const { types, files } = this.#widest ?? { types: [], files: [] }
    const [first, ...others] = files
    if (first === undefined || types.length < VERY_MANY_COLUMNS) return error
    const alike = others.length === 0 ? '' : ` and ${counted(others.length, 'file')} like it`
    return new BuildError(`${first.name}${alike}: ${counted(types.length, 'column')}; ${error.message}`, {
      cause: error,
    })
  }

  /** Finds the Parquet file that DuckDB cannot read. Its errors do not always name it. */
  async #findUnreadable(): Promise<LinkedFile | undefined> {
    let bytes = 0
    for (const file of this.#linked.filter(({ format }) => format === 'parquet')) {
      bytes += file.bytes
      if (bytes > MOST_BYTES_SEARCHED) return undefined
      try {
        await this.#database.run('parquet/read_whole', { path: file.link })
      } catch (error) {
        this.#signal.throwIfAborted()
        if (isDuckDbError(error, 'badContent')) return file
      }
    }
    return undefined
  }

  #oneOfThem(): string {
    const [first, ...others] = this.#linked.map(({ name }) => name)
    if (first === undefined || others.length > 0) return `a file of source ${JSON.stringify(this.#source.name)}`
    return first
  }
}

function documentsOf(source: Source): Documents {
  if (listsOf(source).length === 0) return 'whole'
  return keysWithoutRecords(source).length === 0 ? 'page' : 'batch'
}

const VERY_MANY_COLUMNS = 1000

/** Limits the search to minutes. */
const MOST_BYTES_SEARCHED = 8 * 2 ** 30
