import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { defineUsage } from '../ingest.ts'
import { recordColumns } from '../inputs/columns.ts'
import type { InputGroup } from '../inputs/group.ts'
import type { Source } from '../sources.ts'
import type { RollupRequest } from './engine.ts'

/** Reads fresh files, once, and sums what they hold into the table `core_sums`. */
export async function countRecords(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  request: Pick<RollupRequest, 'onProgress'>,
): Promise<void> {
  await defineUsage(database, source, groups)
  await database.script('rollup/forget_malformed')
  const bytes = groups.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes, 0)
  const stage = `read ${source.name}`
  await database.runWithProgress('rollup/sums', {}, (share) => request.onProgress({ stage, share, bytes }))
  if (groups.some((group) => group.format === 'csv')) await assertAllRead(database, groups)
}

/** Enters into the state what `countRecords` summed. `numbers` are those that the files have there, by their names. */
export async function keepCounts(
  database: Database,
  groups: readonly InputGroup[],
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  await database.run('rollup/create_read_files')
  const rows = groups.flatMap(({ files }, group) =>
    files.map(({ name, link }, index) => [`${group}`, `${index}`, link, `${numbers.get(name)}`]),
  )
  await database.append('core_read_files', rows)
  await database.run('rollup/keep_sums')
  if (groups.some((group) => group.format === 'csv')) await database.run('rollup/keep_malformed')
}

/** DuckDB has to find as many records in a CSV file as a plain count does: a misread quote would show here. */
async function assertAllRead(database: Database, groups: readonly InputGroup[]): Promise<void> {
  type Row = { input_group: number; file_index: number; records: bigint }
  const wellFormed = new Map(
    (await database.rows<Row>('rollup/records_by_file')).map((row) => [
      `${row.input_group}/${row.file_index}`,
      row.records,
    ]),
  )
  const malformed = new Map(
    (await database.rows<{ link: string; records: bigint }>('rollup/malformed')).map((row) => [row.link, row.records]),
  )
  for (const [number, { files }] of groups.entries()) {
    for (const [index, { name, link, csvRecords }] of files.entries()) {
      const read = (wellFormed.get(`${number}/${index}`) ?? 0n) + (malformed.get(link) ?? 0n)
      if (csvRecords === undefined || read === BigInt(csvRecords)) continue
      throw new BuildError(
        `${name} cannot be read whole: it has ${csvRecords} records, and DuckDB finds ${read}; a quote is out of place, or ` +
          'the file was changed meanwhile',
      )
    }
  }
}

/** NDJSON has no header, so a key that no line has shows only here; it may be a misspelt one, and would count as 0. */
export async function assertCountsPresent(
  database: Database,
  source: Source,
  request: Pick<RollupRequest, 'onNotice'>,
): Promise<void> {
  const [present] =
    await database.rows<Record<'prompt_tokens' | 'completion_tokens', boolean | null>>('rollup/counts_present')
  const missing = (['prompt_tokens', 'completion_tokens'] as const).filter((column) => present?.[column] === false)
  if (missing.length === 0) return
  const names = recordColumns(source, missing)
    .map((name) => JSON.stringify(name))
    .join(' nor ')
  const message = `source ${JSON.stringify(source.name)}: no record has ${names}`
  if (missing.length === 2 || missing.some((column) => source.columns[column] !== undefined)) {
    throw new BuildError(`${message}; say in "columns" how the files call what schema ${source.schema} needs`)
  }
  request.onNotice(`${message}, which counts as 0`)
}
