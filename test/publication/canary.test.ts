/**
 * Nothing private enters `public/`: each name that must stay inside is a canary, and no byte below
 * PUBLIC_DIR may hold one, in no file name and under no compression.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import {
  buildIn,
  createWorkspace,
  crowd,
  crowdSlug,
  removeWorkspace,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { COLUMNS, query, sqlText, writeRecords } from '../support/records.ts'

const CANARIES = {
  'a private model': 'zq-canary-private-model',
  'the name of a private model in the registry': 'zq-canary-display-name',
  'the author of a private model in the registry': 'zq-canary-author',
  'an alias of a private model': 'zq-canary-alias',
  'a variant of a private model': 'zq-canary-variant',
  'a model that one record calls private': 'zq-canary-own-visibility',
  'a model of a private source': 'zq-canary-of-private-source',
  'a withheld model': 'zq-canary-withheld',
  'a private model without tokens': 'zq-canary-zero',
  'a rejected slug': '=zq-canary-rejected',
  'a malformed line': 'zq-canary-malformed',
  'a source': 'zq-canary-source',
  'an input file': 'zq-canary-file',
  'the folder of the input': 'zq-canary-folder',
  'the hash of an API key': 'c0ffee00'.repeat(8),
  'a request id': 'zq-canary-request',
  'the id of a duplicate': 'zq-canary-duplicate',
  'a column that is not ours': 'zq-canary-column',
  'a value of that column': 'zq-canary-value',
  'the share of withheld tokens': 'withheld_tokens',
  'the published share': 'published_share',
} as const

const SOURCE = CANARIES['a source']
const FILE = CANARIES['an input file']

async function writeCanaries(workspace: Workspace): Promise<void> {
  const record = {
    timestamp: '2025-03-02T12:00:00Z',
    model_permaslug: 'acme/one',
    prompt_tokens: '1000',
    completion_tokens: '1',
    api_key_hash: CANARIES['the hash of an API key'],
    request_id: CANARIES['a request id'],
    [CANARIES['a column that is not ours']]: CANARIES['a value of that column'],
  }
  const of = (slug: string, fields = {}) => ({ ...record, model_permaslug: slug, request_id: '', ...fields })
  const duplicate = of('acme/two', { request_id: CANARIES['the id of a duplicate'] })
  const listed = [
    record,
    duplicate,
    duplicate,
    ...crowd(48, () => 500),
    of(CANARIES['a private model']),
    of(`${CANARIES['a variant of a private model']}:free`),
    of(CANARIES['an alias of a private model']),
    of(CANARIES['a model that one record calls private'], { visibility: 'private' }),
    of(CANARIES['a withheld model']),
    of(CANARIES['a private model without tokens'], { prompt_tokens: '0', completion_tokens: '0' }),
    of('acme/tomorrow', { timestamp: '2025-03-10T01:00:00Z' }),
    of('acme/yesteryear', { timestamp: '2024-03-10T01:00:00Z' }),
    of('acme/rank-51', { prompt_tokens: '1', completion_tokens: '' }),
    of(CANARIES['a rejected slug']),
  ]
  const columns = [...COLUMNS, 'api_key_hash', CANARIES['a column that is not ours']]
  await writeRecords(join(workspace.input, `${FILE}.csv.gz`), listed, { columns })
  const inside = [of(CANARIES['a model of a private source']), of('acme/one')]
  await writeRecords(join(workspace.input, `${FILE}.parquet`), inside, { columns })
  await writeInput(
    workspace,
    `${FILE}.ndjson`,
    `{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"${CANARIES['a malformed line']}\n`,
  )

  const model = (model_permaslug: string, isPublic: boolean, fields = {}) => {
    return { model_permaslug, aliases: [], public: isPublic, name: model_permaslug, author: 'acme', ...fields }
  }
  const known = ['acme/one', 'acme/two', 'acme/tomorrow', 'acme/yesteryear', 'acme/rank-51']
  const own = [CANARIES['a model that one record calls private'], CANARIES['a model of a private source']]
  const crowded = Array.from({ length: 48 }, (_, index) => crowdSlug(index))
  await writeInput(workspace, 'models.json', [
    ...[...known, ...own, ...crowded].map((slug) => model(slug, true)),
    model(CANARIES['a variant of a private model'], false),
    model(CANARIES['a private model without tokens'], false),
    model(CANARIES['a private model'], false, {
      name: CANARIES['the name of a private model in the registry'],
      author: CANARIES['the author of a private model in the registry'],
      aliases: [CANARIES['an alias of a private model']],
    }),
  ])
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    max_rejected_share: 1,
    sources: [
      { name: SOURCE, schema: 'canonical', files: [`${FILE}.csv.gz`, `${FILE}.ndjson`] },
      { name: `${SOURCE}-inside`, schema: 'canonical', files: [`${FILE}.parquet`], visibility: 'private' },
      { name: `${SOURCE}-silent`, schema: 'canonical', files: ['nowhere/*.csv'] },
    ],
  })
}

/** Every file below a folder, decompressed or read as far as its form allows, as texts that may hold a name. */
async function readEverything(folder: string): Promise<{ path: string; texts: string[] }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(
    files.map(async (path) => {
      const bytes = await readFile(path)
      const texts = [bytes.toString('latin1')]
      if (path.endsWith('.gz')) texts.push(gunzipSync(bytes).toString('latin1'))
      if (path.endsWith('.parquet')) texts.push(...(await readParquet(path)))
      return { path, texts }
    }),
  )
}

async function readParquet(path: string): Promise<string[]> {
  const file = sqlText(path)
  const answers = [
    await query(`SELECT COLUMNS(*)::VARCHAR FROM read_parquet(${file})`),
    await query(`SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${file})`),
    await query(`SELECT created_by FROM parquet_file_metadata(${file})`),
    await query(`SELECT path_in_schema, stats_min_value, stats_max_value FROM parquet_metadata(${file})`),
  ]
  return answers.map((rows) => JSON.stringify(rows))
}

function filesWith(word: string, files: { path: string; texts: string[] }[]): string[] {
  const wanted = word.toLowerCase()
  const found = files.filter(({ path, texts }) => [path, ...texts].some((text) => text.toLowerCase().includes(wanted)))
  return found.map(({ path }) => path)
}

describe('nothing private is published', () => {
  let files: { path: string; texts: string[] }[] = []
  let names: string[] = []
  let summary: BuildSummary

  beforeAll(async () => {
    const workspace = await createWorkspace(CANARIES['the folder of the input'])
    await writeCanaries(workspace)
    summary = await buildIn(workspace)
    files = await readEverything(workspace.publicDir)
    names = (await readdir(workspace.publicDir, { recursive: true })).map((name) => name.toLowerCase())
    return () => removeWorkspace(workspace)
  })

  it('the build read every kind of record that a canary is in, and a search finds a public model in every data file', () => {
    expect(summary.records.read).toBe(51 + 10 + 2 + 1)
    expect(summary.records.rejected).toEqual({ invalid_model: 1, malformed_record: 1 })
    expect(summary.records).toMatchObject({ duplicates: 1, before_dataset_start: 1, not_yet_complete: 1 })
    expect(summary.records.withheld.map(({ model }) => model)).toEqual([CANARIES['a withheld model']])
    expect(summary.rows).toBe(51)
    expect(summary.warnings.map(({ finding }) => finding).join()).toContain(`${SOURCE}-silent`)
    const found = filesWith('crowd/model-001', files).map((path) => path.replace(/.*\//, ''))
    for (const ending of ['parquet', 'csv', 'csv.gz', 'json.gz', 'ndjson.gz'])
      expect(found).toContain(`rankings-daily.${ending}`)
  })

  it.each(Object.entries(CANARIES))('no published file or name contains %s: %s', (_, canary) => {
    expect(filesWith(canary, files)).toEqual([])
    expect(names.filter((name) => name.includes(canary.toLowerCase()))).toEqual([])
  })
})
