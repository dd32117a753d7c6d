/** The engine of a sources file, and what goes with one engine alone. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { buildIn, newWorkspace, runBuild, type Workspace, workspaceOf, writeInput } from '../support/pipeline.ts'

const CLICKHOUSE = { url: 'https://clickhouse.example.org:8443', view: 'tokenboard_usage' }
const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'

async function withEngine(engine: object, top: object = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'sources.json', { engine: { visibility: 'public', ...engine }, ...top })
  return workspace
}

describe('the engine of a sources file', () => {
  it('is ClickHouse with default settings, in place of sources, and certificates beside the file', async () => {
    const workspace = await withEngine({ clickhouse: { ...CLICKHOUSE, ca: 'ca.pem' } })
    const { engine, usageSources, sources } = await readSources(workspace.sources)
    const source = { name: 'clickhouse', visibility: 'public' }
    const defaults = { database: 'default', from: '2025-01-01', timeout_seconds: 3600 }
    const ca = join(workspace.input, 'ca.pem')
    expect(engine).toEqual({ kind: 'clickhouse', source, ...CLICKHOUSE, ...defaults, ca })
    expect({ usageSources, sources }).toEqual({ usageSources: [source], sources: [] })
  })

  it.each([{ clickhouse: CLICKHOUSE }, { rollup_files: ['a.csv'] }])('may be exempt from a rule: %j', async (given) => {
    const exempt = { contributors: 'exempt', note: 'Our own account.' }
    const { usageSources } = await readSources((await withEngine({ ...given, ...exempt }, { disclosure: {} })).sources)
    expect(usageSources).toEqual([expect.objectContaining(exempt)])
  })

  it.each<[object, string]>([
    [{ view: undefined }, 'engine.clickhouse.view'],
    [{ view: 'a`; DROP TABLE b' }, 'engine.clickhouse.view: must consist of letters'],
    [{ url: 'https://example.org/?max_threads=1' }, 'ClickHouse settings belong in the profile'],
    [{ url: 'tcp://example.org:9000' }, 'engine.clickhouse.url: must be a URL such as'],
    [{ from: '2024-12-31' }, 'must not be before 2025-01-01'],
    [{ ca: 'a', cert: 'b' }, 'engine.clickhouse.key: is missing'],
    [{ url: 'http://example.org', ca: 'a' }, 'needs an https: url'],
  ])('is refused with a ClickHouse of %o', async (clickhouse, message) => {
    const failed = readSources((await withEngine({ clickhouse: { ...CLICKHOUSE, ...clickhouse } })).sources)
    await expect(failed).rejects.toThrow(CliError)
    await expect(failed).rejects.toThrow(message)
  })

  it('is refused with keys of a view, without a registry that it needs, and if there is nothing to read', async () => {
    const refused = async (engine: object) => readSources((await withEngine(engine)).sources).then(String, String)
    expect(await refused({ clickhouse: CLICKHOUSE, contributors: 'keys' })).toContain('engine.contributors')
    const unsaid = { clickhouse: CLICKHOUSE, visibility: undefined }
    expect(await refused(unsaid)).toContain('leaves visibility to the model registry')
    const workspace = await newWorkspace()
    await writeInput(workspace, 'sources.json', {})
    const message = 'sources: is missing; list what to read, or name an "engine"'
    await expect(readSources(workspace.sources)).rejects.toThrow(message)
  })
})

it('ENGINE is optional, and must be the engine of the sources file', async () => {
  expect(readPipelineConfig({}).engine).toBeUndefined()
  expect(() => readPipelineConfig({ ENGINE: 'spark' })).toThrow(CliError)
  const said = async (workspace: Workspace, ENGINE: string) => {
    const { code, stderr } = await runBuild(workspace, { ENGINE })
    expect(code).toBe(2)
    return stderr
  }
  expect(await said(await withEngine({ clickhouse: CLICKHOUSE }), 'duckdb')).toContain(
    'ENGINE is duckdb, but the sources file names clickhouse as its engine',
  )
  expect(await said(await workspaceOf({ 'a.csv': HEADER }), 'clickhouse')).toContain(
    'ENGINE is clickhouse, but the sources file does not say which',
  )
})

it('the password of ClickHouse comes from one setting', () => {
  expect(() => readPipelineConfig({ CLICKHOUSE_PASSWORD: 'a', CLICKHOUSE_PASSWORD_FILE: 'b' })).toThrow('keep one')
})

it('--reread is refused for raw files', async () => {
  const failed = buildIn(await workspaceOf({ 'a.csv': HEADER }), undefined, {}, { reread: ['2025-03-02'] })
  await expect(failed).rejects.toThrow('--reread is for ClickHouse')
})
