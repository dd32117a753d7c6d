/** The same five requests in nine public schemas (shared/data/wild-schemas), each in every form that a file may have. */
import { existsSync } from 'node:fs'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  buildIn,
  newWorkspace,
  publishedCsv,
  REPOSITORY,
  rowsOf,
  type Workspace,
  writeInput,
} from '../../support/pipeline.ts'
import { compress, query, sqlText } from '../../support/records.ts'

const WILD = join(REPOSITORY, '../shared/data/wild-schemas')
const AS_OF = '2025-06-10T12:00:00Z'
const suite = existsSync(WILD) ? describe : describe.skip
const where = existsSync(WILD) ? 'wild schemas' : `wild schemas (skipped: there is no ${WILD})`

const FILES: [schema: string, file: string][] = [
  ['openrouter-activity', 'openrouter-activity.csv'],
  ['openrouter-generation', 'openrouter-generation.ndjson'],
  ['litellm-spend-logs', 'litellm-spendlogs.csv'],
  ['litellm-daily-user-spend', 'litellm-dailyuserspend.csv'],
  ['helicone-requests', 'helicone-requests.ndjson'],
  ['langfuse-observations', 'langfuse-observations.ndjson'],
  ['portkey-logs', 'portkey-logs.ndjson'],
  ['otel-genai-spans', 'otel-spans.ndjson'],
  ['cloudflare-ai-gateway-logs', 'cloudflare-ai-gateway-logs.ndjson'],
]

async function writeSources(workspace: Workspace, sources: { schema: string; file: string }[]): Promise<void> {
  await copyFile(join(WILD, 'aliases.csv'), join(workspace.input, 'aliases.csv'))
  const described = sources.map(({ schema, file }, index) => {
    return { name: `wild-${index}`, schema, files: [file], visibility: 'public' }
  })
  await writeInput(workspace, 'sources.json', { aliases: 'aliases.csv', sources: described })
}

function expectedCsv(): Promise<string> {
  return readFile(join(WILD, 'expected.csv'), 'utf8')
}

/** Builds one file and expects what the folder says of all of them. */
async function expectTheFiveRequests(workspace: Workspace, schema: string, file: string): Promise<void> {
  await writeSources(workspace, [{ schema, file }])
  const summary = await buildIn(workspace, AS_OF)
  expect(await publishedCsv(workspace)).toBe(await expectedCsv())
  expect(summary.total_tokens).toBe('2915')
  expect(summary.records).toMatchObject({ rejected: {}, duplicates: 0, private: 0, withheld: [] })
}

/** How DuckDB reads a sample: every value as text, or each as the type it looks like; nested values as such. */
function reader(path: string, types: 'text' | 'natural'): string {
  const file = sqlText(path)
  if (path.endsWith('.csv')) return `read_csv(${file}, all_varchar = ${types === 'text'})`
  return `read_ndjson_auto(${file}, maximum_depth = ${types === 'text' ? 1 : -1})`
}

suite(where, () => {
  it.each(FILES)('%s is read', async (schema, file) => {
    const workspace = await newWorkspace()
    await copyFile(join(WILD, file), join(workspace.input, file))
    await expectTheFiveRequests(workspace, schema, file)
  })

  it.each(FILES.flatMap(([schema, file]) => ['gz', 'zst'].map((ending) => [schema, file, ending] as const)))(
    '%s is read compressed: %s.%s',
    async (schema, file, ending) => {
      const workspace = await newWorkspace()
      const name = `${file}.${ending}`
      await writeInput(workspace, name, compress(name, await readFile(join(WILD, file))))
      await expectTheFiveRequests(workspace, schema, name)
    },
  )

  it.each(
    FILES.flatMap(([schema, file]) => (['text', 'natural'] as const).map((types) => [schema, file, types] as const)),
  )('%s is read from Parquet: %s with types as %s', async (schema, file, types) => {
    const workspace = await newWorkspace()
    const parquet = join(workspace.input, 'wild.parquet')
    await query(`COPY (SELECT * FROM ${reader(join(WILD, file), types)}) TO ${sqlText(parquet)} (FORMAT parquet)`)
    await expectTheFiveRequests(workspace, schema, 'wild.parquet')
  })

  it('all nine in one sources file are nine times the tokens', async () => {
    const workspace = await newWorkspace()
    for (const [, file] of FILES) await copyFile(join(WILD, file), join(workspace.input, file))
    await writeSources(
      workspace,
      FILES.map(([schema, file]) => ({ schema, file })),
    )
    const summary = await buildIn(workspace, AS_OF)
    const ninefold = rowsOf(await expectedCsv()).map((row) =>
      row.replace(/\d+$/, (tokens) => String(9 * Number(tokens))),
    )
    expect(rowsOf(await publishedCsv(workspace))).toEqual(ninefold)
    expect(summary.total_tokens).toBe(String(9 * 2915))
  })

  it('a file delivered again under another name is counted once, where its schema has an id', async () => {
    for (const [schema, file] of FILES) {
      const workspace = await newWorkspace()
      await writeInput(workspace, file, await readFile(join(WILD, file)))
      await writeInput(workspace, `again-${file}.gz`, compress('.gz', await readFile(join(WILD, file))))
      await writeSources(workspace, [{ schema, file: `*${file}*` }])
      const summary = await buildIn(workspace, AS_OF)
      expect(await publishedCsv(workspace), schema).toBe(await expectedCsv())
      expect(summary.records.duplicates, schema).toBeGreaterThanOrEqual(4)
    }
  })
})
