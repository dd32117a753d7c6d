/** Groups of records are judged as their records would be, one by one: sums of the view `core_usage` are the oracle. */
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Database } from '../../pipeline/base/database.ts'
import { sourceColumns } from '../../pipeline/raw/files/columns.ts'
import { Contents } from '../../pipeline/raw/files/content.ts'
import { describeFile } from '../../pipeline/raw/files/find.ts'
import { groupFiles, type InputGroup } from '../../pipeline/raw/files/group.ts'
import { linkFiles } from '../../pipeline/raw/files/link.ts'
import { defineGroups, defineUsage } from '../../pipeline/raw/ingest.ts'
import { type InspectEffects, withFiles } from '../../pipeline/raw/inspect.ts'
import { Source } from '../../pipeline/raw/sources.ts'
import { temporaryFolder } from '../support/folder.ts'
import { tries } from '../support/property.ts'
import { type FileRecord, query, sqlText, writeRecords } from '../support/records.ts'

const KEY = 'a'.repeat(64)

/** Values of each column: most good, some odd. */
const VALUES: Record<string, readonly string[]> = {
  timestamp: ['2025-03-02T12:00:00Z', '2025-03-03T00:00:00Z', '2025-03-02 12:00:00', '', 'odd', '9999-12-31T23:59:59Z'],
  model_permaslug: ['acme/one', 'acme/two', '', '\ufeffacme/one', 'ACME/one'],
  prompt_tokens: ['5', '0', '', '-1', '9007199254740991', '9007199254740992', '1.5', ' 7 '],
  completion_tokens: ['3', '', '1e3', '9007199254740991'],
  request_id: ['', 'one', 'two'],
  visibility: ['', 'public', 'private', 'secret'],
  api_key_hash: ['', KEY, KEY.toUpperCase(), 'short'],
  contributor: ['', 'anna', 'bert'],
  cost_usd: ['', '0.25', '-1', 'much', '0.0000000001'],
  is_byok: ['', 'true', 'FALSE', 'maybe', '1'],
}

const records = fc.array(
  fc.record(
    Object.fromEntries(
      Object.entries(VALUES).map(([column, [first = '', ...others]]) => {
        const odd = others.map((value) => ({ arbitrary: fc.constant(value), weight: 1 }))
        return [column, fc.oneof({ arbitrary: fc.constant(first), weight: 12 }, ...odd)]
      }),
    ),
  ),
  { minLength: 1, maxLength: 300 },
)

/** What is kept of rejected records is their number, so nothing else of them is compared. */
const judged = (view: string, sums: string) => `
  SELECT
    file_index, day_number, reject_reason,
    ${['model', 'visibility', 'api_key_hash', 'contributor', 'is_byok', 'parts_disagree', 'note_kind', 'note_name']
      .map((name) => `CASE WHEN reject_reason IS NULL THEN ${name} END AS ${name}`)
      .join(', ')},
    ${sums}
  FROM ${view}
  GROUP BY ALL`

const RECORDS = judged(
  'core_usage',
  `count(*) AS records, count(request_id) AS identified_records, bool_or(has_prompt_tokens) AS has_prompt_tokens,
    bool_or(has_completion_tokens) AS has_completion_tokens,
    coalesce(sum(prompt_tokens + completion_tokens) FILTER (reject_reason IS NULL), 0)::HUGEINT AS tokens,
    sum(cost_usd) AS cost_usd, count(*) FILTER (is_charge_misread) AS misread_charges,
    sum(parts.input) FILTER (reject_reason IS NULL) AS input`,
)
const GROUPS = judged(
  'core_groups',
  `sum(records)::BIGINT AS records, sum(identified_records)::BIGINT AS identified_records,
    bool_or(has_prompt_tokens) AS has_prompt_tokens, bool_or(has_completion_tokens) AS has_completion_tokens,
    coalesce(sum(tokens) FILTER (reject_reason IS NULL), 0)::HUGEINT AS tokens, sum(cost_usd) AS cost_usd,
    sum(misread_charges)::BIGINT AS misread_charges, sum(parts.input) FILTER (reject_reason IS NULL) AS input`,
)

/** Throws what one of the two has and the other has not. */
async function compare(database: Database): Promise<void> {
  await database.execute(`CREATE OR REPLACE TEMP TABLE records AS ${RECORDS}`)
  await database.execute(`CREATE OR REPLACE TEMP TABLE groups AS ${GROUPS}`)
  for (const [left, right] of [
    ['records', 'groups'],
    ['groups', 'records'],
  ]) {
    const found = `(FROM ${left} EXCEPT ALL FROM ${right}) AS found`
    await database.execute(
      `SELECT error('only in ${left}: ' || to_json(list(found))::VARCHAR) FROM ${found} HAVING count(*) > 0`,
    )
  }
}

const FORMS = [
  { name: 'a.csv', typedColumns: false },
  { name: 'a.ndjson', typedColumns: false },
  { name: 'a.parquet', typedColumns: false },
  { name: 'a.parquet', typedColumns: true },
]

/** Compares both views over a file, and returns the groups of files that it makes. */
async function judgedBothWays(folder: string, name: string): Promise<InputGroup[]> {
  const signal = new AbortController().signal
  const source = Source.parse({ name: 'one', schema: 'canonical', files: [name] })
  const file = await describeFile(join(folder, name), name)
  const now = () => new Date('2025-06-01T00:00:00Z')
  return withFiles([file], { now, signal } as InspectEffects, async (database, links) => {
    const wanted = sourceColumns(source)
    const contents = new Contents([file], { wanted, signal, onRead: () => {} })
    const groups = await groupFiles(database, source, await linkFiles([file], links, { wanted, contents }))
    await defineUsage(database, source, groups)
    await defineGroups(database, source, groups)
    await compare(database)
    return groups
  })
}

it.each(FORMS)(
  'judges groups as it judges records: $name, typed columns: $typedColumns',
  async ({ name, typedColumns }) => {
    const { options } = tries({ share: 4 })
    const property = fc.asyncProperty(records, async (rows: FileRecord[]) => {
      const folder = await temporaryFolder()
      await writeRecords(join(folder, name), rows, { columns: Object.keys(VALUES), typedColumns })
      await judgedBothWays(folder, name)
    })
    await fc.assert(property, options)
  },
)

it.each([
  { ids: 'an id in every record', id: `md5(i::VARCHAR)`, areIdentified: true },
  { ids: 'an empty id', id: `CASE WHEN i <> 7 THEN md5(i::VARCHAR) ELSE '' END`, areIdentified: false },
  { ids: 'a record without an id', id: `CASE WHEN i <> 7 THEN md5(i::VARCHAR) END`, areIdentified: false },
  { ids: 'numbers as ids', id: 'hash(i)', areIdentified: true },
])('counts the ids of a large Parquet file: $ids', async ({ id, areIdentified }) => {
  const folder = await temporaryFolder()
  await query(`COPY (
    SELECT
      TIMESTAMP '2025-03-02 00:00:00' + INTERVAL (i % 80000) SECOND AS timestamp, 'acme/' || i % 3 AS model_permaslug,
      i AS prompt_tokens, 1 AS completion_tokens, ${id} AS request_id
    FROM range(200000) AS numbers(i)
  ) TO ${sqlText(join(folder, 'large.parquet'))} (FORMAT parquet)`)
  const groups = await judgedBothWays(folder, 'large.parquet')
  expect(groups.map((group) => group.areIdentified)).toEqual([areIdentified])
})
