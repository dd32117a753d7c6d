/** Files of settings that something went wrong with: the error says which file and what, and nothing is published. */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../pipeline/base/errors.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { CatalogueError, parseCatalogue } from '../../server/schemas/embeddings-catalogue.ts'
import { someModel } from '../support/embeddings-models.ts'
import { mutate } from '../support/mutants.ts'
import { buildIn, newWorkspace, type Workspace, workspaceOf, writeInput } from '../support/pipeline.ts'
import { tries } from '../support/property.ts'

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
    for (let number = 0; number < 200; number++) {
      const random = seededRandom('settings', name, number)
      const bytes = mutate(Buffer.from(text), random, Buffer.from(JSON.stringify(MODELS)))
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
    expect(refused).toBeGreaterThan(100)
  })
})

it.each([
  ['sources.json', SOURCES],
  ['models.json', MODELS],
])('%s is refused so with any other value in the place of one, or is valid', async (name, value) => {
  const workspace = await newWorkspace()
  await writeAll(workspace)
  const strange = fc.oneof(fc.constantFrom('__proto__', 'constructor', '\0', '\ud800', -1, null), fc.anything())
  const paths = pathsIn(value)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), strange, async (path, other) => {
      await writeInput(workspace, name, JSON.stringify(replaced(value, path, other)) ?? '')
      const error: unknown = await readSources(workspace.sources).catch((thrown) => thrown)
      if (error instanceof Error) expect(error, String(error.stack)).toBeInstanceOf(CliError)
    }),
    tries({ share: 60 }).options,
  )
  expect(Object.keys(Object.prototype)).toEqual([])
})

/** The way to each value inside of a value, itself included. */
function pathsIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]]
  return [[], ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner).map((path) => [key, ...path]))]
}

function replaced(value: unknown, [key, ...rest]: string[], other: unknown): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) return other
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === key ? replaced(inner, rest, other) : inner,
  ])
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}

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
    ['sources.json', '['.repeat(1_000_000), /sources\.json:1:502: nested deeper/],
    ['sources.json', withSource({ timezone: '+05:30' }), /timezone.*IANA/],
  ])('are refused with an error that names file and field: %s with %j', async (name, content, message) => {
    const workspace = await newWorkspace()
    await writeAll(workspace)
    await writeInput(workspace, name, content)
    const failed = expect(readSources(workspace.sources)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(message)
  })

  it.each([
    ['publisher.json', '{"name": 1}', /publisher\.json:1: name: /],
    ['publisher.json', Buffer.from('{"name": "Caf\xe9"}', 'latin1'), /publisher\.json is not UTF-8/],
    ['embeddings-models.json', '[{"id": "a/b", "created": "x"}]', /embeddings-models\.json:1: \[0\]: /],
    ['embeddings-models.json', '[', /embeddings-models\.json:1:\d+: not JSON/],
  ])('are checked before anything is published: %s with %j', async (name, content, message) => {
    const record = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n2025-03-01T10:00:00Z,a/b,10,5\n'
    const workspace = await workspaceOf({ 'a.csv': record })
    await writeFile(join(workspace.dataDir, name), content)
    const failed = expect(buildIn(workspace)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(message)
    expect(await readdir(workspace.publicDir)).toEqual([])
  })
})

it('a damaged embeddings catalogue is refused with each problem, or is valid', () => {
  const text = Buffer.from(JSON.stringify([someModel(), someModel({ id: 'acme/two' })]))
  let refused = 0
  for (let number = 0; number < 500; number++) {
    const bytes = `${mutate(text, seededRandom('catalogue', number), text)}`
    try {
      parseCatalogue(bytes)
    } catch (error) {
      refused += 1
      expect(error, `number ${number}`).toBeInstanceOf(CatalogueError)
      expect((error as CatalogueError).problems.length).toBeGreaterThan(0)
    }
  }
  expect(refused).toBeGreaterThan(250)
})
