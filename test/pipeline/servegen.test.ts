/** Real production load (../shared/data): the answers were computed by others, or are sums that anyone can check. */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { BuildError } from '../../pipeline/base/errors.ts'
import { expectedDataset } from '../support/oracle.ts'
import {
  buildIn,
  csvOf,
  newWorkspace,
  publishedCsv,
  REPOSITORY,
  runBuild,
  sha256,
  snapshotTree,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { type FileRecord, rawRecord, writeRecords } from '../support/records.ts'

const DATA = join(REPOSITORY, '../shared/data')
const hasData = existsSync(DATA)
const suite = describe.skipIf(!hasData)
/** Shown in the report of a run that has no real data. */
const where = hasData ? 'real data' : `real data (skipped: ${DATA} is absent)`

const SERVEGEN = join(DATA, 'servegen-rollups')
const SERVEGEN_AS_OF = '2025-06-20T12:00:00Z'
const SERVEGEN_COLUMNS = { timestamp: 'window_start', model_permaslug: 'model' }

suite(`${where}: servegen-rollups`, () => {
  let expected = ''
  let records: FileRecord[] = []

  beforeAll(async () => {
    expected = await readFile(join(SERVEGEN, 'expected.csv'), 'utf8')
    records = plainCsv(gunzipSync(await readFile(join(SERVEGEN, 'usage-10min.csv.gz'))).toString())
  })

  async function workspaceWith(files: string[]): Promise<Workspace> {
    const workspace = await newWorkspace()
    const source = { name: 'servegen', schema: 'canonical', files, visibility: 'public', columns: SERVEGEN_COLUMNS }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    return workspace
  }

  it('has the expected answer in the oracle too', () => {
    const raw = records.map(({ window_start = '', model = '', prompt_tokens = '', completion_tokens = '' }) =>
      rawRecord({ timestamp: window_start, model_permaslug: model, prompt_tokens, completion_tokens }),
    )
    const answer = expectedDataset([{ visibility: 'public', timezone: 'UTC', records: raw }], [], SERVEGEN_AS_OF)
    expect(answer.csv).toBe(expected)
  })

  it('is published equal to the expected answer, byte for byte', async () => {
    const workspace = await workspaceWith([join(SERVEGEN, 'usage-10min.csv.gz')])
    const summary = await buildIn(workspace, SERVEGEN_AS_OF)
    expect(await publishedCsv(workspace)).toBe(expected)
    expect(summary.content_hash).toBe(`sha256:${sha256(expected)}`)
    expect(summary.records).toMatchObject({ read: 72_007, published: 72_007, rejected: {}, duplicates: 0 })
  })

  it('is published the same from 40 files of mixed formats', async () => {
    const workspace = await workspaceWith(['parts/*', 'more parts/**/*'])
    const endings = ['csv', 'csv.gz', 'csv.zst', 'ndjson', 'jsonl.gz', 'ndjson.zst', 'parquet', 'jsonl']
    const columns = ['window_start', 'model', 'num_requests', 'prompt_tokens', 'completion_tokens']
    for (let part = 0; part < 40; part += 1) {
      const folder = part % 2 === 0 ? 'parts' : `more parts/${part % 3}`
      const path = join(workspace.input, folder, `part-${part}.${endings[part % endings.length]}`)
      await writeRecords(
        path,
        records.filter((_, index) => index % 40 === part),
        {
          columns: part % 5 === 0 ? columns.toReversed() : columns,
          jsonNumbers: part % 3 === 0,
          typedColumns: part % 16 < 8,
        },
      )
    }
    const summary = await buildIn(workspace, SERVEGEN_AS_OF)
    expect(await publishedCsv(workspace)).toBe(expected)
    expect(summary.records.read).toBe(72_007)
  })

  it.each(['America/New_York', 'Asia/Shanghai', 'Pacific/Auckland'])(
    'is published the same by a machine whose TZ is %s',
    async (TZ) => {
      const workspace = await workspaceWith([join(SERVEGEN, 'usage-10min.csv.gz')])
      const { code, stderr } = await runBuild(workspace, { AS_OF: SERVEGEN_AS_OF, TZ })
      expect(code, stderr).toBe(0)
      expect(await publishedCsv(workspace)).toBe(expected)
    },
  )
})

suite(`${where}: azure-llm-2023`, () => {
  const columns = { timestamp: 'TIMESTAMP', prompt_tokens: 'ContextTokens', completion_tokens: 'GeneratedTokens' }

  async function azureWorkspace(): Promise<Workspace> {
    const workspace = await newWorkspace()
    const sources = ['code', 'conv'].map((service) => ({
      name: service,
      schema: 'canonical',
      files: [join(DATA, `azure-llm-2023/AzureLLMInferenceTrace_${service}.csv`)],
      visibility: 'public',
      model: `azure/${service}`,
      columns,
    }))
    await writeInput(workspace, 'sources.json', { sources })
    return workspace
  }

  it('ends the CLI with exit code 1, which says why', async () => {
    const workspace = await azureWorkspace()
    const { code, stderr } = await runBuild(workspace)
    expect(code).toBe(1)
    expect(stderr).toMatch(/28185 before_dataset_start/)
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
  })

  it('is before the dataset: the build fails and publishes nothing, and accounts for it with its sums', async () => {
    const workspace = await azureWorkspace()
    await expect(buildIn(workspace)).rejects.toThrow(BuildError)
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
    let tokens = 0
    for (const service of ['code', 'conv']) {
      const text = await readFile(join(DATA, `azure-llm-2023/AzureLLMInferenceTrace_${service}.csv`), 'utf8')
      for (const { ContextTokens, GeneratedTokens } of plainCsv(text)) {
        tokens += Number(ContextTokens) + Number(GeneratedTokens)
      }
    }
    const account = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
    expect(account.outside).toEqual([
      { date: '2023-11-16', reason: 'before_dataset_start', records: 28_185, tokens: String(tokens) },
    ])
    expect(tokens).toBe(18_305_870 + 26_450_535)
  })

  it('is published with its real sums where its dates are moved into the dataset', async () => {
    const workspace = await azureWorkspace()
    await mkdir(join(workspace.input, 'moved'))
    const sources = []
    for (const service of ['code', 'conv']) {
      const bytes = await readFile(join(DATA, `azure-llm-2023/AzureLLMInferenceTrace_${service}.csv`), 'utf8')
      await writeInput(workspace, `moved/${service}.csv`, bytes.replaceAll('2023-11-16', '2025-02-16'))
      sources.push({
        name: service,
        schema: 'canonical',
        files: [`moved/${service}.csv`],
        visibility: 'public',
        model: `azure/${service}`,
        columns,
      })
    }
    await writeInput(workspace, 'sources.json', { sources })
    const summary = await buildIn(workspace)
    expect(await publishedCsv(workspace)).toBe(
      csvOf([
        ['2025-02-16', 'azure/conv', 26_450_535],
        ['2025-02-16', 'azure/code', 18_305_870],
      ]),
    )
    expect(summary.records.read).toBe(8819 + 19_366)
  })
})

suite(`${where}: mooncake-conversation`, () => {
  it('is published on the two dates that its base time makes of it', async () => {
    const base = Date.parse('2025-03-02T23:30:00Z')
    const totals = new Map<string, number>()
    const text = gunzipSync(await readFile(join(DATA, 'mooncake-conversation/conversation_trace.jsonl.gz'))).toString()
    for (const line of text.trimEnd().split('\n')) {
      const { timestamp, input_length, output_length } = JSON.parse(line)
      const date = new Date(base + timestamp).toISOString().slice(0, 10)
      totals.set(date, (totals.get(date) ?? 0) + input_length + output_length)
    }
    const [before = 0, after = 0] = ['2025-03-02', '2025-03-03'].map((date) => totals.get(date))
    expect(before + after).toBe(148_915_871)
    expect(Math.min(before, after)).toBeGreaterThan(0)

    const workspace = await newWorkspace()
    await copyFile(
      join(DATA, 'mooncake-conversation/conversation_trace.jsonl.gz'),
      join(workspace.input, 'trace.jsonl.gz'),
    )
    const columns = { prompt_tokens: 'input_length', completion_tokens: 'output_length' }
    const source = {
      name: 'mooncake',
      schema: 'canonical',
      files: ['trace.jsonl.gz'],
      visibility: 'public',
      model: 'kimi/conversation',
      base_time: '2025-03-02T23:30:00Z',
      columns,
    }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    const summary = await buildIn(workspace)
    expect(summary.records.read).toBe(12_031)
    expect(await publishedCsv(workspace)).toBe(
      csvOf([
        ['2025-03-02', 'kimi/conversation', before],
        ['2025-03-03', 'kimi/conversation', after],
      ]),
    )
  })
})

/** Records of a CSV that has no quotes. */
function plainCsv(text: string): FileRecord[] {
  const [columns = [], ...records] = text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.split(','))
  return records.map((fields) => Object.fromEntries(columns.map((column, index) => [column, fields[index] ?? ''])))
}
