import { join } from 'node:path'
import { z } from 'zod'
import { provisionalFrom } from './contract/manifest.ts'
import { type Timestamp, Timestamp as TimestampSchema } from './contract/ranking.ts'
import { UtcDate } from './contract/utc-date.ts'
import type { Database } from './database.ts'
import { BuildError, UsageError } from './errors.ts'
import { type Files, hashFile, namesIn, readTextIfAny } from './files.ts'
import { parseJson } from './json.ts'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** What a part of the archive holds of one source: its dates from that of the part before (or ever) to `before`. */
const ArchivedSource = z.strictObject({
  name: z.string(),
  /** The first date of this part; null for the first part of a source, which begins with its first record. */
  from: UtcDate.nullable(),
  file: z.string().regex(/^usage-\d+\.parquet$/),
  records: z.int().nonnegative(),
  sha256: Sha256,
  /** The raw files that these records came from. They may be deleted where no later date is in them. */
  inputs: z.array(z.strictObject({ name: z.string(), sha256: Sha256, records: z.int().nonnegative() })),
})
type ArchivedSource = z.infer<typeof ArchivedSource>

/** `archive.json` of a part: one call of `tokenboard archive`. Dates before `before` are closed from then on. */
const ArchivePart = z.strictObject({
  version: z.literal(1),
  before: UtcDate,
  as_of: TimestampSchema,
  sources: z.array(ArchivedSource),
})

const DESCRIPTION = 'archive.json'

/** Earlier than any date that a record can have. */
const BEGINNING = -1_000_000n
const MILLISECONDS_PER_DAY = 86_400_000

interface Part extends ArchivedSource {
  before: UtcDate
  folder: string
}

/** A raw file with records of dates that were closed. */
export interface ArchivedInput {
  source: string
  name: string
  /** Whether all that is in it is archived now, so that the file may be deleted. */
  is_closed: boolean
}

/**
 * The rollup of closed dates, for good (DESIGN.md §5, `tokenboard archive`): it stands in for the raw files, which may
 * then be deleted. Unlike the state it cannot be made again, so every byte of it is checked before it is used.
 */
export class Archive {
  readonly #folder: string
  readonly #parts: readonly Part[]

  private constructor(folder: string, parts: readonly Part[]) {
    this.#folder = folder
    this.#parts = parts
  }

  /** Reads and proves the archive in `folder`; none there is an empty one. Throws `BuildError` for a damaged one. */
  static async open(folder: string): Promise<Archive> {
    const names = (await namesIn(folder)).filter((name) => !name.startsWith('.')).sort()
    const parts = await Promise.all(names.map((name) => readPart(join(folder, name))))
    const archive = new Archive(folder, parts.flat())
    archive.#assertUnbroken()
    return archive
  }

  /** The sources that the archive holds dates of. */
  get sources(): string[] {
    return [...new Set(this.#parts.map((part) => part.name))].sort()
  }

  /** The first date of a source that is not closed, or undefined when none is. */
  openFrom(source: string): UtcDate | undefined {
    return this.#of(source).at(-1)?.before
  }

  /** The names of the raw files of a source whose records of closed dates are in the archive. */
  inputs(source: string): string[] {
    return this.#of(source).flatMap((part) => part.inputs.map((input) => input.name))
  }

  /** Makes `source` the one that the views `core_source_sums` and `core_net_usage` show, its archive included. */
  async select(database: Database, source: string): Promise<void> {
    const openFrom = this.openFrom(source)
    await database.setVariable('source', source)
    await database.setVariable('open_day', openFrom === undefined ? BEGINNING : dayNumber(openFrom))
    await database.run('rollup/source_sums')
    await database.run('rollup/touched_days')
    await database.run('archive/create')
    await database.run('archive/create_inputs')
    for (const part of this.#of(source)) {
      await database.run('archive/read', { path: join(part.folder, part.file) })
      const inputs = part.inputs.map(({ name, sha256, records }) => [name, sha256, `${records}`])
      await database.append('core_archived_inputs', inputs)
    }
    await database.run('rollup/usage')
  }

  /**
   * Closes the dates before `before` of `sources`, whose state has to be up to date. Returns the raw files that hold
   * records of them. Throws `UsageError` for dates that are still provisional at `asOf`.
   */
  async close(options: {
    database: Database
    files: Files
    sources: readonly string[]
    before: UtcDate
    asOf: Timestamp
  }): Promise<{ records: number; inputs: ArchivedInput[] }> {
    const { database, files, sources, before, asOf } = options
    const latest = provisionalFrom(asOf)
    if (before > latest) {
      throw new UsageError(
        `the dates from ${latest} on are still provisional as of ${asOf}; give --before ${latest} or earlier`,
      )
    }
    const staging = join(this.#folder, '.staging')
    await files.remove(staging)
    await files.makeFolder(staging)
    const closed: ArchivedSource[] = []
    const inputs: ArchivedInput[] = []
    for (const source of sources.filter((name) => (this.openFrom(name) ?? '') < before)) {
      await this.select(database, source)
      const part = await this.#write({ database, files, source, before, folder: staging, position: closed.length })
      closed.push(part.archived)
      inputs.push(...part.inputs)
    }
    const records = closed.reduce((sum, part) => sum + part.records, 0)
    if (records > 0) {
      const part = { version: 1, before, as_of: asOf, sources: closed } satisfies z.infer<typeof ArchivePart>
      await files.write(join(staging, DESCRIPTION), `${JSON.stringify(part, undefined, 2)}\n`)
      await files.flush(staging)
      await files.rename(staging, join(this.#folder, await this.#freeName(before)))
    }
    await files.remove(staging)
    return { records, inputs }
  }

  async #write(options: {
    database: Database
    files: Files
    source: string
    before: UtcDate
    folder: string
    position: number
  }): Promise<{ archived: ArchivedSource; inputs: ArchivedInput[] }> {
    const { database, files, source, before, folder, position } = options
    const file = `usage-${position}.parquet`
    const path = join(folder, file)
    const before_day = dayNumber(before)
    await database.run('archive/write', { before_day, path })
    await files.flush(path)
    type Row = { name: string; sha256: string; kept: string | null; records: bigint; is_closed: boolean }
    const rows = await database.rows<Row>('archive/inputs', { before_day })
    const inputs = rows.map(({ name, sha256, records }) => ({ name, sha256, records: Number(records) }))
    return {
      archived: {
        name: source,
        from: this.openFrom(source) ?? null,
        file,
        records: inputs.reduce((sum, input) => sum + input.records, 0),
        sha256: (await hashFile(path)).sha256,
        inputs,
      },
      inputs: rows.flatMap(({ name, is_closed, kept }) => (kept === null ? [{ source, name, is_closed }] : [])),
    }
  }

  /** A part is named for its date; a second one of that date, of other sources, gets a number. */
  async #freeName(before: UtcDate): Promise<string> {
    const taken = await namesIn(this.#folder)
    let name: string = before
    for (let number = 2; taken.includes(name); number += 1) name = `${before}.${number}`
    return name
  }

  #of(source: string): Part[] {
    return this.#parts.filter((part) => part.name === source).sort((a, b) => (a.before < b.before ? -1 : 1))
  }

  #assertUnbroken(): void {
    for (const source of this.sources) {
      let expected: UtcDate | null = null
      for (const part of this.#of(source)) {
        if (part.from !== expected) {
          throw new BuildError(
            `${this.#folder}: the part of source ${JSON.stringify(source)} ${expected === null ? 'before' : 'between'} ` +
              `${expected === null ? part.from : `${expected} and ${part.from}`} is missing; restore it from a backup`,
          )
        }
        expected = part.before
      }
    }
  }
}

async function readPart(folder: string): Promise<Part[]> {
  const path = join(folder, DESCRIPTION)
  const text = await readTextIfAny(path)
  if (text === undefined) throw new BuildError(`${path} is missing: the archive is damaged; restore it from a backup`)
  const { before, sources } = parseJson(ArchivePart, text, path, BuildError)
  for (const { file, sha256 } of sources) {
    const bytes = join(folder, file)
    if ((await namesIn(folder)).includes(file) && (await hashFile(bytes)).sha256 === sha256) continue
    throw new BuildError(
      `${bytes} is missing or damaged: it has not the checksum of ${DESCRIPTION}; restore it from a backup`,
    )
  }
  return sources.map((source) => ({ ...source, before, folder }))
}

function dayNumber(date: UtcDate): bigint {
  return BigInt(Date.parse(date) / MILLISECONDS_PER_DAY)
}
