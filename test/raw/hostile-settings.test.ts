/** Files of settings that something went wrong with: the error says which file and what, and nothing is published. */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../pipeline/base/errors.ts'
import { type Random, seededRandom } from '../../pipeline/raw/sample/random.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { CatalogueError, parseCatalogue } from '../../server/schemas/embeddings-catalogue.ts'
import { someModel } from '../support/embeddings-models.ts'
import { mutate, pick } from '../support/mutants.ts'
import { buildIn, newWorkspace, runBuild, type Workspace, writeInput } from '../support/pipeline.ts'

const SOURCES = {
  models: 'models.json',
  aliases: 'aliases.csv',
  max_rejected_share: 0.5,
  blocking: [],
  on_missing: 'keep',
  sources: [
    { name: 'a', schema: 'canonical', files: ['a.csv'], columns: { timestamp: 'ts' }, timezone: 'Europe/Paris' },
    { name: 'b', schema: 'canonical', files: ['b/*.csv'], visibility: 'public', base_time: '2025-03-01T00:00:00Z' },
  ],
}
const MODELS = [
  { model_permaslug: 'acme/one', aliases: ['one', 'eins'], public: true, name: 'One', author: 'Acme' },
  { model_permaslug: 'acme/two', aliases: [], public: false },
]
const ALIASES = 'alias,model_permaslug\nuno,acme/one\n"du,o",acme/two\n'

/** A sources file of one source with other settings. */
function withSource(settings: object): string {
  const source = { name: 's', schema: 'canonical', files: ['*'], visibility: 'public', ...settings }
  return JSON.stringify({ sources: [source] })
}

/** Everything that JSON can hold where something else belongs. */
const STRANGE: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '\0',
  '\ud800',
  'x'.repeat(100_000),
  [],
  {},
  [[[[[]]]]],
  { __proto__: null, toString: 1 },
]
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'length',
  'sources',
  'public',
  'name',
  '',
  '\0',
  'modles',
]

/** The same value with something else somewhere inside. */
function strangely(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.1) return pick(random, STRANGE)
  const entries = Object.entries(value)
  const [key, inner] = pick(random, entries.length > 0 ? entries : [['', null] as [string, unknown]])
  const choice = random()
  const changed =
    choice < 0.15
      ? entries.filter(([other]) => other !== key)
      : choice < 0.3
        ? [...entries, [pick(random, KEYS), pick(random, STRANGE)] as [string, unknown]]
        : entries.map(([other, held]) => [other, other === key ? strangely(inner, random) : held] as [string, unknown])
  // Not by assignment, which would take __proto__ for no key.
  return Array.isArray(value) ? changed.map(([, held]) => held) : Object.fromEntries(changed)
}

describe.each([
  ['sources.json', JSON.stringify(SOURCES)],
  ['models.json', JSON.stringify(MODELS)],
  ['aliases.csv', ALIASES],
])('a damaged %s', (name, text) => {
  it('is refused with an error that names a file, or is valid', async () => {
    const workspace = await newWorkspace()
    await writeAll(workspace)
    const named = /(sources|models)\.json|aliases\.csv|there is no file |cannot be read/
    let refused = 0
    for (let number = 0; number < 400; number++) {
      const random = seededRandom('settings', name, number)
      const isJson = name.endsWith('.json') && number % 2 === 0
      const bytes = isJson
        ? JSON.stringify(strangely(JSON.parse(text), random))
        : mutate(Buffer.from(text), random, Buffer.from(JSON.stringify(MODELS)))
      await writeInput(workspace, name, bytes)
      const error = await readSources(workspace.sources).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (error === undefined) continue
      refused += 1
      expect(error, `number ${number}: ${error}`).toBeInstanceOf(CliError)
      const { message } = error as CliError
      expect(message, `number ${number}`).toMatch(named)
    }
    expect(refused).toBeGreaterThan(200)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

async function writeAll(workspace: Workspace): Promise<void> {
  await writeInput(workspace, 'sources.json', SOURCES)
  await writeInput(workspace, 'models.json', MODELS)
  await writeInput(workspace, 'aliases.csv', ALIASES)
}

describe('files of settings', () => {
  it.each([
    ['sources.json', '{"sources": [], "sources": [{}]}', /sources\.json:1:17: sources: is a duplicate key; keep one/],
    [
      'models.json',
      '[{"model_permaslug": "a/b", "public": false, "name": "x\\"{,", "public": true}]',
      /models\.json:1:63: \[0\]\.public: is a duplicate key/,
    ],
    [
      'models.json',
      '[{"model_permaslug": "a/b", "public": true, "\\u0070ublic": true}]',
      /\[0\]\.public: is a duplicate key/,
    ],
    ['models.json', '[{"model_permaslug": "=1", "public": true}]', /models\.json:1: model_permaslug "=1"/],
    [
      'models.json',
      '[{"model_permaslug": "a/b", "public": true, "__proto__": {}}]',
      /:1: \[0\]: unknown key "__proto__"/,
    ],
    [
      'models.json',
      Buffer.from('[{"model_permaslug": "a/\xe9", "public": true}]', 'latin1'),
      /models\.json is not UTF-8/,
    ],
    ['aliases.csv', Buffer.from('alias,model_permaslug\n\xe9,acme/one\n', 'latin1'), /aliases\.csv is not UTF-8/],
    ['sources.json', Buffer.from(JSON.stringify(SOURCES), 'utf16le'), /sources\.json:1:\d+: not JSON/],
    ['sources.json', '['.repeat(1_000_000), /sources\.json:1:502: nested deeper/],
    ['sources.json', '', /sources\.json:1:\d+: not JSON/],
    ['sources.json', '{"blocking": [{"toString": 1}], "sources": []}', /sources\.json:1: blocking\[0\]: /],
    ['sources.json', '\0'.repeat(100), /sources\.json:1:\d+: not JSON/],
    ['sources.json', withSource({ timezone: '+05:30' }), /timezone.*IANA/],
    [
      'sources.json',
      withSource({ time_unit: 'milliseconds' }),
      /sources\[0\]\.time_unit: .*"base_time": "1970-01-01T00:00:00Z"/,
    ],
  ])('are refused with an error that names file and field: %s with %j', async (name, content, message) => {
    const workspace = await newWorkspace()
    await writeAll(workspace)
    await writeInput(workspace, name, content)
    const failed = expect(readSources(workspace.sources)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(message)
  })

  it('end a build with exit code 2 before it publishes anything', async () => {
    const workspace = await newWorkspace()
    await writeAll(workspace)
    await writeInput(workspace, 'models.json', '[{"model_permaslug": "a/b", "public": "yes"}]')
    const { code, stdout, stderr } = await runBuild(workspace)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^tokenboard: \S*models\.json:1: \[0\]\.public: .*\n$/)
    expect(await readdir(workspace.publicDir)).toEqual([])
  })

  it.each([
    ['publisher.json', '{"name": 1}', /publisher\.json:1: name: /],
    ['publisher.json', Buffer.from('{"name": "Caf\xe9"}', 'latin1'), /publisher\.json is not UTF-8/],
    ['embeddings-models.json', '{"data": []}', /embeddings-models\.json:1: /],
    ['embeddings-models.json', '[{"id": "a/b", "created": "x"}]', /embeddings-models\.json:1: \[0\]: /],
    ['embeddings-models.json', '[', /embeddings-models\.json:1:\d+: not JSON/],
  ])('are checked before anything is published: %s with %j', async (name, content, message) => {
    const workspace = await newWorkspace()
    const row = '2025-03-01T10:00:00Z,a/b,10,5'
    await writeInput(workspace, 'a.csv', `timestamp,model_permaslug,prompt_tokens,completion_tokens\n${row}\n`)
    const source = { name: 's', schema: 'canonical', files: ['a.csv'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await writeFile(join(workspace.dataDir, name), content)
    const failed = expect(buildIn(workspace)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(message)
    expect(await readdir(workspace.publicDir)).toEqual([])
  })
})

it('a damaged embeddings catalogue is refused with each problem, or is valid', () => {
  const text = JSON.stringify([someModel(), someModel({ id: 'acme/two' })])
  let refused = 0
  for (let number = 0; number < 1000; number++) {
    const random = seededRandom('catalogue', number)
    const bytes =
      number % 2 === 0
        ? JSON.stringify(strangely(JSON.parse(text), random))
        : mutate(Buffer.from(text), random, Buffer.from(text)).toString()
    try {
      parseCatalogue(bytes)
    } catch (error) {
      refused += 1
      expect(error, `number ${number}`).toBeInstanceOf(CatalogueError)
      expect((error as CatalogueError).problems.length).toBeGreaterThan(0)
    }
  }
  expect(refused).toBeGreaterThan(500)
})
