/** The same five requests in nine public schemas (shared/data/wild-schemas), each in every form that a file may have. */
import { existsSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
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

async function writeSources(workspace: Workspace, sources: { schema: string; files: string[] }[]): Promise<void> {
  await copyFile(join(WILD, 'aliases.csv'), join(workspace.input, 'aliases.csv'))
  const described = sources.map((source, index) => ({ name: `wild-${index}`, visibility: 'public', ...source }))
  await writeInput(workspace, 'sources.json', { aliases: 'aliases.csv', sources: described })
}

function expectedCsv(): Promise<string> {
  return readFile(join(WILD, 'expected.csv'), 'utf8')
}

/**
 * A sample in which every model has a variant. An alias keeps the variant, so that samples which are built together are
 * told apart by it.
 */
function withVariant(text: string, variant: string): string {
  return text.replaceAll(/(gpt-4o|claude-3[.-]5-sonnet|text-embedding-3-small)[-\d]*(?=[",])/g, `$&:${variant}`)
}

/** The published rows by the variant of their model. */
function rowsByVariant(csv: string): Record<string, string[]> {
  const variants = Map.groupBy(rowsOf(csv), (row) => row.split(' ')[1]?.split(':')[1] ?? 'none')
  return Object.fromEntries(variants)
}

async function expectedByVariant(variants: string[]): Promise<Record<string, string[]>> {
  const csv = await expectedCsv()
  return Object.fromEntries(variants.map((variant) => [variant, rowsOf(withVariant(csv, variant))]))
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
    await writeSources(workspace, [{ schema, files: [file] }])
    const summary = await buildIn(workspace, AS_OF)
    expect(await publishedCsv(workspace)).toBe(await expectedCsv())
    expect(summary.total_tokens).toBe('2915')
    expect(summary.records).toMatchObject({ rejected: {}, duplicates: 0, private: 0, withheld: [] })
  })

  it.each(FILES)('%s is read compressed, and from Parquet with types as text and natural', async (schema, file) => {
    const workspace = await newWorkspace()
    const sample = await readFile(join(WILD, file), 'utf8')
    for (const ending of ['gz', 'zst']) {
      const name = `${file}.${ending}`
      await writeInput(workspace, name, compress(name, withVariant(sample, ending)))
    }
    for (const types of ['text', 'natural'] as const) {
      const varied = join(workspace.root, `${types}-${file}`)
      await writeFile(varied, withVariant(sample, types))
      const parquet = sqlText(join(workspace.input, `${types}.parquet`))
      await query(`COPY (SELECT * FROM ${reader(varied, types)}) TO ${parquet} (FORMAT parquet)`)
    }
    const files = [`${file}.gz`, `${file}.zst`, 'text.parquet', 'natural.parquet']
    await writeSources(
      workspace,
      files.map((name) => ({ schema, files: [name] })),
    )
    const summary = await buildIn(workspace, AS_OF)
    const variants = ['gz', 'zst', 'text', 'natural']
    expect(rowsByVariant(await publishedCsv(workspace))).toEqual(await expectedByVariant(variants))
    expect(summary.total_tokens).toBe(String(4 * 2915))
    expect(summary.records).toMatchObject({ rejected: {}, duplicates: 0, private: 0, withheld: [] })
  })

  it('all nine in one sources file are nine times the tokens', async () => {
    const workspace = await newWorkspace()
    for (const [, file] of FILES) await copyFile(join(WILD, file), join(workspace.input, file))
    await writeSources(
      workspace,
      FILES.map(([schema, file]) => ({ schema, files: [file] })),
    )
    const summary = await buildIn(workspace, AS_OF)
    const ninefold = rowsOf(await expectedCsv()).map((row) =>
      row.replace(/\d+$/, (tokens) => String(9 * Number(tokens))),
    )
    expect(rowsOf(await publishedCsv(workspace))).toEqual(ninefold)
    expect(summary.total_tokens).toBe(String(9 * 2915))
  })

  it('a file delivered again under another name is counted once, where its schema has an id', async () => {
    const workspace = await newWorkspace()
    const schemas = FILES.map(([schema]) => schema)
    for (const [schema, file] of FILES) {
      const sample = withVariant(await readFile(join(WILD, file), 'utf8'), schema)
      await writeInput(workspace, file, sample)
      await writeInput(workspace, `again-${file}.gz`, compress('.gz', sample))
    }
    await writeSources(
      workspace,
      FILES.map(([schema, file]) => ({ schema, files: [`*${file}*`] })),
    )
    await buildIn(workspace, AS_OF)
    expect(rowsByVariant(await publishedCsv(workspace))).toEqual(await expectedByVariant(schemas))
    const quality = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
    for (const [index, schema] of schemas.entries()) {
      const duplicates = quality.set_aside.filter(
        ({ source, reason }: { source: string; reason: string }) =>
          source === `wild-${index}` && reason === 'duplicate',
      )
      const records = duplicates.reduce((sum: number, entry: { records: number }) => sum + entry.records, 0)
      expect(records, schema).toBeGreaterThanOrEqual(4)
    }
  })
})
