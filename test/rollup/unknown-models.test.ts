/** `tokenboard models`: what the registry does not know, and how it gets into it. */
import { chmod, mkdir, readdir, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import { entriesOf, matches } from '../../pipeline/dataset/choose-models.ts'
import { findUnknownModels, type UnknownModelsOptions } from '../../pipeline/rollup/unknown-models.ts'
import { useOn } from '../support/gateway.ts'
import {
  AS_OF,
  buildIn,
  type CliResult,
  effectsWith,
  newWorkspace,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  writeInput,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { useSmallSample } from '../support/small-sample.ts'

const MODELS = [
  { model_permaslug: 'acme/known', name: 'Known', aliases: ['known'], public: true },
  { model_permaslug: 'acme/secret', public: false },
]

const UNKNOWN = ['acme/large', 'acme/large:free', 'lab/one', 'acme/small']

/** A first build that has not been made: 4 of 6 models are unknown, each with less than the one before. */
async function newInstallation(models: unknown = MODELS): Promise<Workspace> {
  const workspace = await newWorkspace()
  const records = [
    ...UNKNOWN.map((model, index) => useOn('2025-03-02', model, 1000 - index)),
    useOn('2025-03-02', 'known', 7),
    useOn('2025-03-02', 'acme/secret', 9000),
    useOn('2025-03-03', 'lab/one', 1),
  ]
  await writeSmallBuild(workspace, { sources: [{ records, settings: { visibility: 'registry' } }], models: [] })
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    sources: [{ name: 'gateway', schema: 'canonical', files: ['source-0.ndjson'] }],
  })
  if (models === null) await rm(join(workspace.input, 'models.json'))
  else await writeInput(workspace, 'models.json', models)
  return workspace
}

function find(workspace: Workspace, options: Partial<UnknownModelsOptions> = {}, files: Files = realFiles) {
  const config = { ...readPipelineConfig(settings(workspace, AS_OF)), threads: 1 }
  return findUnknownModels(config, effectsWith({ now: () => new Date(AS_OF), files }), { names: [], ...options })
}

function run(workspace: Workspace, ...words: string[]): Promise<CliResult> {
  return runCli(['models', ...words], settings(workspace, AS_OF))
}

function modelsText(workspace: Workspace): Promise<string> {
  return readFile(join(workspace.input, 'models.json'), 'utf8')
}

async function refused(workspace: Workspace, options: Partial<UnknownModelsOptions>): Promise<string> {
  const before = await snapshotTree(workspace.input)
  const error: unknown = await find(workspace, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(CliError)
  expect(await snapshotTree(workspace.input)).toEqual(before)
  return error instanceof Error ? error.message : ''
}

const slugs = (models: readonly { model: string }[]) => models.map(({ model }) => model)

describe('the list of unknown models', () => {
  it('has records and tokens of each, most tokens first, before there is a release, and prints them', async () => {
    const workspace = await newInstallation()
    const found = await find(workspace)
    expect(found.unknown).toEqual([
      { model: 'acme/large', records: 1, tokens: '1000' },
      { model: 'acme/large:free', records: 1, tokens: '999' },
      { model: 'lab/one', records: 2, tokens: '999' },
      { model: 'acme/small', records: 1, tokens: '997' },
    ])
    expect(found).toMatchObject({ added: [], covered: [], models_file: join(workspace.input, 'models.json') })
    expect(found.published_share).toMatchObject({ public_tokens: '7', withheld_tokens: '3995' })
    expect((await readdir(workspace.publicDir)).filter((name) => !name.startsWith('.'))).toEqual([])
    expect(await modelsText(workspace)).toBe(JSON.stringify(MODELS))
    expect(JSON.parse((await run(workspace, '--json')).stdout)).toEqual(found)

    const { code, stdout, stderr } = await run(workspace)
    expect(code, stderr).toBe(0)
    expect(stdout).toBe(
      [
        'model            records  tokens',
        'acme/large             1   1,000',
        'acme/large:free        1     999',
        'lab/one                2     999',
        'acme/small             1     997',
        '',
      ].join('\n'),
    )
    expect(stderr).toContain(
      `${join(workspace.input, 'models.json')} does not know 4 models; private models aside, 0.17 % of the tokens`,
    )
    expect(stderr).toContain('--add public')
  })

  it('follows the current registry, and names if there are any', async () => {
    const workspace = await newInstallation(UNKNOWN.map((slug) => ({ model_permaslug: slug, public: true })))
    await expect(buildIn(workspace)).rejects.toThrow('max_withheld_share')
    expect(slugs((await find(workspace)).unknown)).toEqual(['acme/secret', 'known'])
    await writeInput(workspace, 'models.json', MODELS)
    expect(slugs((await find(workspace)).unknown)).toEqual(UNKNOWN)
    const ofAcme = UNKNOWN.filter((slug) => slug.startsWith('acme/'))
    expect(slugs((await find(workspace, { names: ['acme/*', 'known'] })).unknown)).toEqual(ofAcme)
  })

  it('is empty if no source asks a registry, and there is none of the synthetic sample', async () => {
    const { root, dataDir, publicDir } = await newWorkspace()
    const ofSample = await runCli(['models'], { DATA_DIR: dataDir, PUBLIC_DIR: publicDir }, root)
    expect([ofSample.code, ofSample.stderr]).toEqual([2, expect.stringContaining('there is no data/sources.json')])
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: [useOn('2025-03-02', 'a/b', 5)] }] })
    expect(await find(workspace)).toMatchObject({ models_file: null, unknown: [], published_share: { share: 1 } })
    const { code, stdout, stderr } = await run(workspace)
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('no source asks a registry')
    expect(await refused(workspace, { add: 'public' })).toContain('add "models": "models.json" to it')
  })
})

describe('after the sample', () => {
  useSmallSample()

  it('finds unknown models of your own logs and archives those, even if they are named like files of the sample', async () => {
    const workspace = await newInstallation()
    await buildIn({ ...workspace, sources: '' }, '2025-03-04T12:00:00Z')
    expect(slugs((await find(workspace)).unknown)).toEqual(UNKNOWN)
    const { code, stderr } = await runCli(['archive', '--before', '2025-03-03'], settings(workspace, AS_OF))
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('archived 6 records')
  })
})

describe('adding unknown models', () => {
  it('writes all of them after the present entries, once, and the next build publishes them', async () => {
    const workspace = await newInstallation()
    const before = await snapshotTree(workspace.root)
    const dry = await run(workspace, '--add', 'public', '--all', '--dry-run')
    expect(dry.code, dry.stderr).toBe(0)
    expect(dry.stderr).toContain('dry run: would add 3 models')
    expect(await snapshotTree(workspace.root)).toEqual(before)

    await expect(buildIn(workspace)).rejects.toThrow('make models ARGS="--add public ')
    const { code, stdout, stderr } = await run(workspace, '--add', 'public', '--all')
    expect(code, stderr).toBe(0)
    expect(stdout).toBe(
      [
        'model            registry            records  tokens',
        'acme/large       public                    1   1,000',
        'lab/one          public                    2     999',
        'acme/small       public                    1     997',
        'acme/large:free  follows acme/large        1     999',
        '',
      ].join('\n'),
    )
    expect(stderr).toContain(`added 3 models to ${join(workspace.input, 'models.json')}; no model is unknown now`)
    const entries = ['acme/large', 'lab/one', 'acme/small'].map((slug) => ({ model_permaslug: slug, public: true }))
    expect(await modelsText(workspace)).toBe(`${JSON.stringify([...MODELS, ...entries], undefined, 2)}\n`)

    const written = await stat(join(workspace.input, 'models.json'), { bigint: true })
    for (const words of [['--all'], ['acme/*', 'lab/one']]) {
      const again = await run(workspace, '--add', 'public', ...words)
      expect([again.code, again.stdout]).toEqual([0, ''])
      expect(again.stderr).toContain('nothing to add')
    }
    const { ino, mtimeNs } = await stat(join(workspace.input, 'models.json'), { bigint: true })
    expect([ino, mtimeNs]).toEqual([written.ino, written.mtimeNs])
    expect(await buildIn(workspace)).toMatchObject({ models: 5, published_share: { share: 1 } })
    expect((await run(workspace)).stderr).toContain('models.json knows every model that you asked for')
  })

  it('takes names and patterns, variants alone, and bases with their variants, and lists what stays unknown', async () => {
    const workspace = await newInstallation()
    const found = await find(workspace, { names: ['*/one', 'acme/small'], add: 'private' })
    expect(found.added).toMatchObject([
      { model: 'lab/one', public: false, tokens: '999' },
      { model: 'acme/small', public: false },
    ])
    expect(slugs(found.unknown)).toEqual(['acme/large', 'acme/large:free'])
    expect(JSON.parse(await modelsText(workspace)).slice(2)).toEqual([
      { model_permaslug: 'lab/one', public: false },
      { model_permaslug: 'acme/small', public: false },
    ])
    const variant = await find(workspace, { names: ['acme/large:free'], add: 'public' })
    expect([slugs(variant.added), slugs(variant.unknown)]).toEqual([['acme/large:free'], ['acme/large']])
    await writeInput(workspace, 'models.json', MODELS)
    const base = await find(workspace, { names: ['acme/large'], add: 'public' })
    expect(base.covered).toMatchObject([{ model: 'acme/large:free', follows: 'acme/large' }])
    expect(slugs(base.unknown)).toEqual(['lab/one', 'acme/small'])
  })

  it('leaves out what looks private if a pattern fits it, and adds it by its name', async () => {
    const workspace = await newInstallation()
    const path = join(workspace.input, 'source-0.ndjson')
    const log = await readFile(path, 'utf8')
    await writeFile(path, `${log}${log.replaceAll('lab/one', 'lab/ft:gpt-4o:acme::x')}`)
    const { stderr } = await run(workspace, '--add', 'public', 'lab/*')
    expect(stderr).toContain('left out: lab/ft:gpt-4o:acme::x looks private: a fine-tuned model; name it to add it')
    expect(await modelsText(workspace)).not.toContain('ft:')
    const { added } = await find(workspace, { add: 'public', names: ['lab/ft:gpt-4o:acme::x'] })
    expect(slugs(added)).toEqual(['lab/ft:gpt-4o:acme::x'])
  })

  it('creates a models file that does not exist', async () => {
    const workspace = await newInstallation(null)
    await expect(buildIn(workspace)).rejects.toThrow(/there is no file \S*models\.json; `tokenboard models`/)
    expect(slugs((await find(workspace)).unknown)).toEqual(['acme/secret', ...UNKNOWN, 'known'])
    await find(workspace, { names: ['known'], add: 'public' })
    expect(await modelsText(workspace)).toBe('[\n  {\n    "model_permaslug": "known",\n    "public": true\n  }\n]\n')
  })

  it('replaces the file that a link points to, and keeps its mode', async () => {
    const workspace = await newInstallation()
    const [link, target] = [join(workspace.input, 'models.json'), join(workspace.root, 'registry/all.json')]
    await mkdir(join(workspace.root, 'registry'))
    await rename(link, target)
    await symlink(target, link)
    await chmod(target, 0o600)
    const before = await readFile(target, 'utf8')
    const write = (path: string) => Promise.reject(new Error(`ENOSPC ${path}`))
    await expect(find(workspace, { add: 'public' }, { ...realFiles, write })).rejects.toThrow('ENOSPC')
    expect(await readFile(target, 'utf8')).toBe(before)
    await find(workspace, { add: 'public' })
    expect(await realpath(link)).toBe(await realpath(target))
    expect((await stat(target)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(target, 'utf8'))).toHaveLength(5)
    expect(await readdir(join(workspace.root, 'registry'))).toEqual(['all.json'])
  })
})

describe('tokenboard models', () => {
  it('refuses names of models that are not unknown', async () => {
    const installation = await newInstallation()
    const cases = [
      [['acme/largo'], 'public', /have a model "acme\/largo", did you mean "acme\/large"\?/],
      [['acme/large', 'zzz*'], 'public', /have a model "zzz\*"/],
      [['acme/known'], 'private', /"acme\/known" is public in \S*models\.json already; change "public" there/],
      [['known'], 'private', /"known" is public/],
      [['acme/secret'], 'public', /"acme\/secret" is private/],
      [['acme/known:free'], 'private', /"acme\/known:free" is public/],
      [['nothing'], undefined, /have a model "nothing"/],
    ] as const
    for (const [names, add, message] of cases)
      expect(await refused(installation, { names, add }), `${names} ${add}`).toMatch(message)
  })

  it('exits with 2 for flags that do not say what to add', async () => {
    const workspace = await newInstallation()
    for (const [words, message] of [
      [['--add', 'public'], /say which models to add/],
      [['--all'], /--all goes with --add/],
      [['--add', 'public', '--all', 'a'], /not both/],
      [['--add', 'secret', '--all'], /Allowed choices are public, private/],
    ] as const)
      expect(await run(workspace, ...words)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })
})

it.each([
  ['a/b', ['a/b'], ['a/bc']],
  ['a/*', ['a/b:free'], []],
  ['*', [''], []],
  ['*b', ['ab'], []],
  ['ab*b', [], ['ab']],
  ['a*b*c', ['a-c-b-c'], ['a-c-b']],
  ['a.c', [], ['abc']],
  ['[a]*', ['[a]b'], []],
  ['a*', ['a*'], []],
])('the pattern %s matches %j and not %j', (pattern, names, others) => {
  expect([...names, ...others].filter((name) => matches(pattern, name))).toEqual(names)
})

it('a variant of a variant needs an entry if its base follows another model', () => {
  const models = ['a/b:c:d', 'a/b:c', 'a/b'].map((model) => ({ model, records: 1, tokens: '1' }))
  const { added, covered } = entriesOf(models, models, true)
  expect(slugs(added)).toEqual(['a/b:c:d', 'a/b'])
  expect(covered).toMatchObject([{ model: 'a/b:c', follows: 'a/b' }])
  // One that looks private needs its own: its base makes no such name public.
  const unknown = ['acme/m', 'acme/m:prod'].map((model) => ({ model, records: 1, tokens: '1' }))
  expect(slugs(entriesOf(unknown, unknown, true).added)).toEqual(['acme/m', 'acme/m:prod'])
  expect(entriesOf(unknown.slice(0, 1), unknown, true).covered).toEqual([])
  expect(slugs(entriesOf(unknown, unknown, false).added)).toEqual(['acme/m'])
})
