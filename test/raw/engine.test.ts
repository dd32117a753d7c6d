import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { buildIn, newWorkspace, runBuild, type Workspace, writeInput } from '../support/pipeline.ts'

const CLICKHOUSE = { url: 'https://clickhouse.example.org:8443', view: 'tokenboard_usage' }

async function withEngine(engine: unknown, top: Record<string, unknown> = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'sources.json', { ...(engine !== undefined && { engine }), ...top })
  return workspace
}

async function reading(engine: unknown, top: Record<string, unknown> = {}) {
  return readSources((await withEngine(engine, top)).sources)
}

describe('the engine of a sources file', () => {
  it('is DuckDB by default', async () => {
    const source = { name: 'a', schema: 'canonical', files: ['a.csv'], visibility: 'public' }
    const { engine, usageSources } = await reading(undefined, { sources: [source] })
    expect(engine).toEqual({ kind: 'duckdb' })
    expect(usageSources).toEqual([expect.objectContaining({ name: 'a', visibility: 'public' })])
  })

  it('is ClickHouse with default settings, in place of sources', async () => {
    const { engine, usageSources, sources } = await reading({ clickhouse: CLICKHOUSE, visibility: 'public' })
    const source = { name: 'clickhouse', visibility: 'public' }
    expect(engine).toEqual({
      kind: 'clickhouse',
      source,
      ...CLICKHOUSE,
      database: 'default',
      from: '2025-01-01',
      timeout_seconds: 3600,
    })
    expect({ usageSources, sources }).toEqual({ usageSources: [source], sources: [] })
  })

  it.each([{ clickhouse: CLICKHOUSE }, { rollup_files: ['a.csv'] }])('may be exempt from a rule: %j', async (given) => {
    const exempt = { contributors: 'exempt', note: 'Our own account.' }
    const { usageSources } = await reading({ ...given, ...exempt, visibility: 'public' }, { disclosure: {} })
    expect(usageSources).toEqual([expect.objectContaining(exempt)])
  })

  it('has certificates with paths relative to the sources file', async () => {
    const workspace = await withEngine({ clickhouse: { ...CLICKHOUSE, ca: 'ca.pem' }, visibility: 'public' })
    expect((await readSources(workspace.sources)).engine).toMatchObject({ ca: join(workspace.input, 'ca.pem') })
  })

  it.each<[string, unknown, Record<string, unknown>, string]>([
    ['neither sources nor an engine', undefined, {}, 'sources: is missing; list what to read, or name an "engine"'],
    ['no view', { clickhouse: { url: CLICKHOUSE.url } }, {}, 'engine.clickhouse.view'],
    [
      'a view that is no name',
      { clickhouse: { ...CLICKHOUSE, view: 'a`; DROP TABLE b' } },
      {},
      'engine.clickhouse.view: must consist of letters',
    ],
    [
      'a url with settings',
      { clickhouse: { ...CLICKHOUSE, url: 'https://example.org/?max_threads=1' } },
      {},
      'ClickHouse settings belong in the profile',
    ],
    [
      'a url of another kind',
      { clickhouse: { ...CLICKHOUSE, url: 'tcp://example.org:9000' } },
      {},
      'engine.clickhouse.url: must be a URL such as',
    ],
    [
      'a first date before the dataset',
      { clickhouse: { ...CLICKHOUSE, from: '2024-12-31' } },
      {},
      'must not be before 2025-01-01',
    ],
    [
      'a certificate without its key',
      { clickhouse: { ...CLICKHOUSE, ca: 'a', cert: 'b' } },
      {},
      'engine.clickhouse.key: is missing',
    ],
    [
      'a certificate for http',
      { clickhouse: { ...CLICKHOUSE, url: 'http://example.org', ca: 'a' } },
      {},
      'needs an https: url',
    ],
    ['keys of a view', { clickhouse: CLICKHOUSE, contributors: 'keys' }, {}, 'engine.contributors'],
    ['a registry that is not there', { clickhouse: CLICKHOUSE }, {}, 'leaves visibility to the model registry'],
  ])('is refused with %s', async (_, engine, top, message) => {
    const failed = reading(engine, top)
    await expect(failed).rejects.toThrow(CliError)
    await expect(failed).rejects.toThrow(message)
  })
})

describe('the setting ENGINE', () => {
  it('is optional, and is duckdb or clickhouse', () => {
    expect(readPipelineConfig({}).engine).toBeUndefined()
    expect(readPipelineConfig({ ENGINE: 'clickhouse' }).engine).toBe('clickhouse')
    expect(() => readPipelineConfig({ ENGINE: 'spark' })).toThrow(CliError)
  })

  it('must be the engine of the sources file', async () => {
    const workspace = await withEngine({ clickhouse: CLICKHOUSE, visibility: 'public' })
    const { code, stderr } = await runBuild(workspace, { ENGINE: 'duckdb' })
    expect(code).toBe(2)
    expect(stderr).toContain('ENGINE is duckdb, but the sources file names clickhouse as its engine')
    await writeInput(workspace, 'sources.json', {
      sources: [{ name: 'a', schema: 'canonical', files: ['a.csv'], visibility: 'public' }],
    })
    const other = await runBuild(workspace, { ENGINE: 'clickhouse' })
    expect(other.code).toBe(2)
    expect(other.stderr).toContain('ENGINE is clickhouse, but the sources file does not say which')
  })

  it('takes the password of ClickHouse from one setting', async () => {
    expect(() => readPipelineConfig({ CLICKHOUSE_PASSWORD: 'a', CLICKHOUSE_PASSWORD_FILE: 'b' })).toThrow('keep one')
  })
})

describe('the option --reread', () => {
  it('is refused for raw files', async () => {
    const workspace = await newWorkspace()
    await writeFile(join(workspace.input, 'a.csv'), 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n')
    await writeInput(workspace, 'sources.json', {
      sources: [{ name: 'a', schema: 'canonical', files: ['a.csv'], visibility: 'public' }],
    })
    const failed = buildIn(workspace, undefined, {}, { reread: ['2025-03-02'] })
    await expect(failed).rejects.toThrow('--reread is for ClickHouse')
  })
})
