/** Numbers and times of Parquet that no record can have: each rejects its own record, and no build fails of it. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildIn, newWorkspace, publishedCsv, rowsOf, writeInput } from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'

const SECONDS = { base_time: '1970-01-01T00:00:00Z', time_unit: 'seconds' }
const NOON = "TIMESTAMP '2025-06-01 12:00:00'"

interface Values {
  settings?: object
  /** SQL of the fields of a good record, in place of the usual ones. */
  fields?: Record<string, string>
  /** SQL of one field of the others. */
  odd: Record<string, readonly string[]>
  /** The field of which the last odd value becomes NaN: the footer goes on to say that all are in range. */
  hidden?: string
  tokens?: number
}

const CASES: Record<string, Values> = {
  'counts that are NaN or infinite': {
    odd: { prompt_tokens: ["'nan'::DOUBLE", "'infinity'::DOUBLE", '1e30::DOUBLE', '1.5::DOUBLE', '-1::DOUBLE'] },
  },
  'a NaN that the footer hides': { odd: { prompt_tokens: ['5::DOUBLE'] }, hidden: 'DOUBLE' },
  'a NaN of half the size': {
    fields: { prompt_tokens: '7::FLOAT' },
    odd: { prompt_tokens: ['5::FLOAT'] },
    hidden: 'FLOAT',
  },
  'decimal counts': {
    fields: { prompt_tokens: '7::DECIMAL(38, 2)' },
    odd: { prompt_tokens: ["'999999999999999999999999999999999999'::DECIMAL(38, 2)", '1.5::DECIMAL(38, 2)'] },
  },
  'times from a base': {
    settings: SECONDS,
    fields: { timestamp: '1748779200::DOUBLE' },
    odd: { timestamp: ["'nan'::DOUBLE", "'-infinity'::DOUBLE", '1e30::DOUBLE', '-1e18::DOUBLE'] },
  },
  'times in a unit': {
    settings: { columns: { timestamp: { path: 'timestamp', unit: 'ms' } } },
    fields: { timestamp: '1748779200000::DOUBLE' },
    odd: { timestamp: ["'nan'::DOUBLE", "'infinity'::DOUBLE", '1e300::DOUBLE'] },
  },
  'times at the end of the calendar': {
    settings: { timezone: 'America/New_York' },
    odd: { timestamp: ["TIMESTAMP '294247-01-10 00:00:00'", "'infinity'::TIMESTAMP"] },
  },
  'counts beside a time that has no text': {
    settings: { columns: { prompt_tokens: 'usage.input' } },
    fields: { usage: `{'input': 7, 'at': ${NOON}}` },
    odd: { usage: ["{'input': 7, 'at': make_timestamp(-9223372036854775807 - 1)}"] },
  },
  'text whose type is not said': {
    fields: { timestamp: "encode('2025-06-01T12:00:00Z')", prompt_tokens: "encode('7')" },
    odd: { prompt_tokens: ["encode('many')", "'\\xFF'::BLOB"] },
  },
  // Libraries write NaN where a number is missing.
  'ids that are NaN': { odd: { request_id: ["'nan'::DOUBLE", "'nan'::DOUBLE"] }, tokens: 30 },
}

function selected(fields: Record<string, string>): string {
  const usual = { timestamp: NOON, model_permaslug: "'m'", prompt_tokens: '7::DOUBLE', completion_tokens: '3' }
  const all = Object.entries({ ...usual, request_id: '1::DOUBLE', ...fields })
  return `SELECT ${all.map(([name, sql]) => `${sql} AS ${name}`).join(', ')}`
}

/** Makes the first 5 of a file NaN: that of its data, which comes before the footer. */
async function hide(path: string, type: string): Promise<void> {
  const bytes = await readFile(path)
  const written = (value: number) => {
    const data = type === 'FLOAT' ? new Float32Array([value]) : new Float64Array([value])
    return Buffer.from(data.buffer)
  }
  const position = bytes.indexOf(written(5))
  expect(position).toBeGreaterThan(0)
  bytes.set(written(Number.NaN), position)
  await writeFile(path, bytes)
}

it('odd values of Parquet reject their records alone', async () => {
  const workspace = await newWorkspace()
  const cases = Object.entries(CASES)
  const sources = cases.map(([, { settings }], index) => {
    const common = { schema: 'canonical', files: [`${index}.parquet`], visibility: 'public', model: `m/${index}` }
    return { name: `${index}`, ...common, ...settings }
  })
  for (const [index, [, { fields, odd, hidden }]] of cases.entries()) {
    const others = Object.entries(odd).flatMap(([name, values]) =>
      values.map((sql, id) => ({ ...fields, request_id: `${id + 2}::DOUBLE`, [name]: sql })),
    )
    const records = [fields ?? {}, ...others].map(selected).join(' UNION ALL ')
    const path = join(workspace.input, `${index}.parquet`)
    const written = `SELECT * EXCLUDE (model_permaslug) FROM (${records})`
    await query(`COPY (${written}) TO ${sqlText(path)} (FORMAT parquet, COMPRESSION uncompressed)`)
    if (hidden !== undefined) await hide(path, hidden)
  }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources })
  await buildIn(workspace, '2025-06-10T12:00:00Z')
  const rows = cases.map(([what, { tokens = 10 }], index) => [what, `2025-06-01 m/${index} ${tokens}`])
  const found = rowsOf(await publishedCsv(workspace)).toSorted()
  expect(cases.map(([what], index) => [what, found[index]])).toEqual(rows)
})
