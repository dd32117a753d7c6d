import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import type { Files } from '../base/files.ts'

/** Some 20 MB, and as much again while they are written. */
const MOST_ROWS = 50_000

/** The sums of new files until the state has them: the table `core_sums`, read as the view `core_all_sums`. */
export class Sums {
  readonly #database: Database
  readonly #folder: string
  readonly #files: Files
  readonly #mostRows: number
  readonly #written: string[] = []

  private constructor(database: Database, { folder, files, mostRows = MOST_ROWS }: SumsOptions) {
    this.#database = database
    this.#folder = folder
    this.#files = files
    this.#mostRows = mostRows
  }

  /** Makes an empty table. What does not fit in memory is written to `folder`. */
  static async create(database: Database, options: SumsOptions): Promise<Sums> {
    const sums = new Sums(database, options)
    await database.run('count/create_sums')
    await database.run('sums/in_table')
    return sums
  }

  /** Writes the rows of the table to a file if they are many. */
  async makeRoom(): Promise<void> {
    const [counted] = await this.#database.rows<{ rows: number }>('sums/rows')
    if ((counted?.rows ?? 0) < this.#mostRows) return
    if (this.#written.length === 0) await this.#files.makeFolder(this.#folder)
    const path = join(this.#folder, `${this.#written.length}.parquet`)
    await this.#database.run('sums/write', { path })
    this.#written.push(path)
    await this.#database.run('count/create_sums')
    await this.#database.setVariable('sums_files', [...this.#written])
    await this.#database.run('sums/in_files')
  }
}

export interface SumsOptions {
  folder: string
  files: Files
  mostRows?: number
}
