import { join } from 'node:path'
import { z } from 'zod'
import { verifyChecksums, writeChecksums } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { type Files, namesIn, readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { type Timestamp, Timestamp as TimestampSchema } from '../contract/ranking.ts'
import { UtcDate } from '../contract/utc-date.ts'

export const OTHER_VERSION = 'another version of Tokenboard wrote this: build with that version'

/** The form of what the archive keeps, dates and files. */
export const ARCHIVE_VERSION = 1

/** `archive.json` of a part: what one `tokenboard archive` call archived. */
const ArchivePart = z.strictObject({
  version: z.literal(ARCHIVE_VERSION, { error: OTHER_VERSION }),
  before: UtcDate,
  as_of: TimestampSchema,
  /** The source at position N has the files `usage-N.parquet` and `inputs-N.parquet`. */
  sources: z.array(
    z.strictObject({
      name: z.string(),
      /** The first date of the part; null for the first part of a source. */
      from: UtcDate.nullable(),
      records: z.int().positive(),
    }),
  ),
})
type ArchivePart = z.infer<typeof ArchivePart>

const DESCRIPTION = 'archive.json'

/** Advice for a damaged archive, which cannot be rebuilt, unlike the state. */
export const RESTORE = ': the archive is damaged; restore it from a backup'

/** Where a part is staged. Readers of the archive skip names that begin with a dot. */
export function archiveStaging(folder: string): string {
  return join(folder, '.staging')
}

const BEGINNING = -1_000_000n
const MILLISECONDS_PER_DAY = 86_400_000

interface ArchivedRange {
  source: string
  from: UtcDate | null
  before: UtcDate
  usage: string
  inputs: string
}

export interface ArchivedSource {
  source: string
  start_date: UtcDate
  end_date: UtcDate
  dates: number
  records: number
}

export interface StagedPart {
  folder: string
  before: UtcDate
  sources: ArchivedSource[]
}

/** A raw file that still exists and has archived records. */
export interface ArchivedFile {
  file: string
  /** Its records that are not in the archive. Without any, the file may be deleted. */
  records_left: number
}

/** The permanent rollup of archived dates, which replaces their raw files. Parts never change. */
export class Archive {
  readonly #folder: string
  readonly #ranges: readonly ArchivedRange[]

  private constructor(folder: string, ranges: readonly ArchivedRange[]) {
    this.#folder = folder
    this.#ranges = ranges
  }

  /** Opens and verifies the archive; a missing folder is an empty archive. Throws `BuildError` if it is damaged. */
  static async open(folder: string): Promise<Archive> {
    const names = (await namesIn(folder)).filter((name) => !name.startsWith('.')).sort()
    const ranges: ArchivedRange[] = []
    for (const name of names) ranges.push(...(await readPart(join(folder, name))))
    const archive = new Archive(folder, ranges)
    archive.#verifyParts()
    return archive
  }

  get sources(): string[] {
    return [...new Set(this.#ranges.map((range) => range.source))].sort()
  }

  /** The first date of a source that is not archived; undefined if none is. */
  unarchivedFrom(source: string): UtcDate | undefined {
    return this.#of(source).at(-1)?.before
  }

  /** Selects the source that the views show, with its archive. */
  async select(database: Database, source: string): Promise<void> {
    const unarchivedFrom = this.unarchivedFrom(source)
    await database.setVariable('source', source)
    await database.setVariable('open_day', unarchivedFrom === undefined ? BEGINNING : dayNumber(unarchivedFrom))
    await database.run('source/sums')
    await database.run('source/touched_days')
    await database.run('archive/create')
    await database.run('archive/create_inputs')
    for (const { usage, inputs } of this.#of(source)) {
      await database.run('archive/read', { path: usage })
      await database.run('archive/read_inputs', { path: inputs })
    }
    await database.run('source/net_usage')
    await database.run('source/dated_usage')
    await database.run('source/late_usage')
  }

  async inputs(database: Database): Promise<string[]> {
    return (await database.rows<{ name: string }>('archive/input_names')).map(({ name }) => name)
  }

  /** Stages the part that archives dates before `before`. The state must be up to date. Skips empty sources. */
  async stage(options: {
    database: Database
    files: Files
    sources: readonly string[]
    before: UtcDate
    asOf: Timestamp
    folder: string
  }): Promise<StagedPart> {
    const { database, files, sources, before, asOf, folder } = options
    await files.remove(folder)
    const archived: ArchivedSource[] = []
    for (const source of sources.filter((name) => (this.unarchivedFrom(name) ?? '') < before)) {
      await this.select(database, source)
      const usage = await usageBefore(database, before)
      if (usage === undefined) continue
      await files.makeFolder(folder)
      await writeUsage({ database, files, before, paths: pathsIn(folder, archived.length) }, usage)
      const { start_date, end_date, dates, records } = usage
      archived.push({ source, start_date, end_date, dates, records })
    }
    if (archived.length > 0) {
      const described = archived.map(({ source, records }) => {
        return { name: source, from: this.unarchivedFrom(source) ?? null, records }
      })
      const part: ArchivePart = { version: ARCHIVE_VERSION, before, as_of: asOf, sources: described }
      await files.write(join(folder, DESCRIPTION), `${JSON.stringify(part, undefined, 2)}\n`)
      await writeChecksums(folder, files)
    }
    return { folder, before, sources: archived }
  }

  /** Adds a staged part by one rename and returns its path. */
  async add({ folder, before }: StagedPart, files: Files): Promise<string> {
    // Another part with this end date, of other sources, gets a number.
    const taken = await namesIn(this.#folder)
    let name: string = before
    for (let number = 2; taken.includes(name); number += 1) name = `${before}.${number}`
    const path = join(this.#folder, name)
    await files.rename(folder, path)
    return path
  }

  /** The existing raw files of a source with records before `before` or of archived dates. */
  async filesOf(database: Database, source: string, before: UtcDate): Promise<ArchivedFile[]> {
    await this.select(database, source)
    type Row = { file: string; records_left: bigint }
    const rows = await database.rows<Row>('archive/files', { before_day: dayNumber(before) })
    return rows.map(({ file, records_left }) => ({ file, records_left: Number(records_left) }))
  }

  #of(source: string): ArchivedRange[] {
    return this.#ranges.filter((range) => range.source === source).sort((a, b) => (a.before < b.before ? -1 : 1))
  }

  #verifyParts(): void {
    for (const source of this.sources) {
      let expected: UtcDate | null = null
      for (const { from, before } of this.#of(source)) {
        if (from !== expected) {
          throw new BuildError(
            `${this.#folder} lacks archived dates of source ${JSON.stringify(source)}: the part that ends ` +
              `before ${from ?? before} is missing${RESTORE}`,
          )
        }
        expected = before
      }
    }
  }
}

async function readPart(folder: string): Promise<ArchivedRange[]> {
  await verifyChecksums(folder, { remedy: RESTORE })
  const path = join(folder, DESCRIPTION)
  const { before, sources } = parseJson(ArchivePart, (await readTextIfAny(path)) ?? '', path, BuildError)
  return sources.map(({ name, from }, position) => ({ source: name, from, before, ...pathsIn(folder, position) }))
}

function pathsIn(folder: string, position: number): Pick<ArchivedRange, 'usage' | 'inputs'> {
  return { usage: join(folder, `usage-${position}.parquet`), inputs: join(folder, `inputs-${position}.parquet`) }
}

async function usageBefore(
  database: Database,
  before: UtcDate,
): Promise<(Omit<ArchivedSource, 'source'> & { tokens: string }) | undefined> {
  type Row = { start_date: string; end_date: string; dates: bigint; records: bigint; tokens: string }
  const [row] = await database.rows<Row>('archive/closing', { before_day: dayNumber(before) })
  return row && { ...row, dates: Number(row.dates), records: Number(row.records) }
}

async function writeUsage(
  options: { database: Database; files: Files; before: UtcDate; paths: Pick<ArchivedRange, 'usage' | 'inputs'> },
  expected: { records: number; tokens: string },
): Promise<void> {
  const { database, files, before, paths } = options
  const before_day = dayNumber(before)
  await database.run('archive/write', { before_day, path: paths.usage })
  await database.run('archive/write_inputs', { before_day, path: paths.inputs })
  for (const path of Object.values(paths)) {
    await files.flush(path)
    const [written] = await database.rows<{ records: bigint; tokens: string }>('archive/written', { path })
    if (Number(written?.records) === expected.records && written?.tokens === expected.tokens) continue
    throw new BuildError(
      `${path} has ${written?.records} records with ${written?.tokens} tokens instead of ${expected.records} with ` +
        `${expected.tokens}; nothing was archived`,
    )
  }
}

function dayNumber(date: UtcDate): bigint {
  return BigInt(Date.parse(date) / MILLISECONDS_PER_DAY)
}
