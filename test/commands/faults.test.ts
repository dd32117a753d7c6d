/** What a maintainer reads when files, settings or flags are wrong: sentences, all of them at once, each with its place. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PipelineSettings } from '../../pipeline/base/config.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { parseJson, parseNamed } from '../../pipeline/base/json.ts'
import { Publisher } from '../../pipeline/contract/manifest.ts'
import { RestatementNote } from '../../pipeline/contract/reason.ts'
import { Model } from '../../pipeline/raw/registry.ts'
import { SourcesFile } from '../../pipeline/raw/sources.ts'
import { ConfigError, readServerConfig } from '../../server/base/config.ts'
import { CatalogueError, parseCatalogue } from '../../server/schemas/embeddings-catalogue.ts'
import { someModel } from '../support/embeddings-models.ts'
import { newWorkspace, runBuild, runProcess, writeInput } from '../support/pipeline.ts'
import { TEST_PUBLISHER } from '../support/publisher.ts'

const WORDS_OF_ZOD =
  /\bInvalid\b|received|Unrecognized|\bToo (?:small|big)|Expected|expected \w+ to|=>|<=|>=|undefined|\[object/

const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e300,
  '',
  'x',
  'x'.repeat(1000),
  [],
  [[]],
  {},
  { x: 1 },
  [null, 5],
]

const SOURCE = {
  name: 'a',
  schema: 'canonical',
  files: ['a.csv'],
  visibility: 'public',
  columns: { timestamp: { path: 'sent', unit: 'ms' }, prompt_tokens: ['a.b', '+c'] },
  unnest: 'data[]',
  where: { status: { equal: 'ok' }, kind: [{ in: ['a', 1] }, { not: { present: true } }] },
  timezone: 'Europe/Paris',
  base_time: '1970-01-01T00:00:00Z',
  time_unit: 'seconds',
  outside_from: { openai: '2026-01-01' },
  audio_inside_from: '2026-01-01',
}
const PLAIN = { name: 'a', schema: 'canonical', files: ['a.csv'], visibility: 'public' }
const CLICKHOUSE = {
  url: 'https://x.test',
  view: 'v',
  from: '2025-01-01',
  ca: 'a',
  cert: 'c',
  key: 'k',
  timeout_seconds: 5,
}
const SOURCES = {
  models: 'm.json',
  aliases: 'a.csv',
  max_rejected_share: 0.1,
  max_withheld_share: 0.1,
  blocking: ['new_leader'],
  on_missing: 'keep',
  sources: [SOURCE],
  engine: { clickhouse: CLICKHOUSE, rollup_files: ['x'], name: 'n', visibility: 'public' },
}
const MODELS = [{ model_permaslug: 'a/b', aliases: ['c'], public: true, name: 'n', author: 'a' }]

/** The same value with each of its parts wrong in each way, missing, and beside an unknown one. */
function* wrongly(value: unknown): Generator<unknown> {
  yield* WRONG
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { ...value, unknown: 1 }
  for (const [key, part] of Object.entries(value)) {
    if (!Array.isArray(value)) yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== key))
    for (const wrong of wrongly(part)) {
      yield Array.isArray(value) ? value.with(Number(key), wrong) : { ...value, [key]: wrong }
    }
  }
}

function messageOf(parsing: () => unknown): string {
  try {
    parsing()
    return ''
  } catch (error) {
    if (error instanceof CliError || error instanceof ConfigError || error instanceof CatalogueError)
      return error.message
    throw error
  }
}

describe('no error has words of the parser', () => {
  const file = (schema: z.ZodType) => (value: unknown) => parseJson(schema, JSON.stringify(value), 'f.json', CliError)

  it.each<[string, unknown, (value: unknown) => unknown, number]>([
    ['sources.json', SOURCES, file(SourcesFile), 500],
    ['models.json', MODELS, file(z.array(Model)), 60],
    ['publisher.json', TEST_PUBLISHER, file(Publisher), 50],
    ['the embeddings catalogue', [someModel()], (value) => parseCatalogue(JSON.stringify(value)), 200],
  ])('%s', (_, right, parseIt, atLeast) => {
    const messages = [...wrongly(right)].map((value) => messageOf(() => parseIt(value)))
    expect(messages.filter((message) => WORDS_OF_ZOD.test(message))).toEqual([])
    expect(messages.filter((message) => message !== '').length).toBeGreaterThan(atLeast)
  })

  it('settings and flags', () => {
    const names = ['AS_OF', 'MEMORY_LIMIT', 'ENGINE', 'PORT', 'DATABASE_URL', 'LOG_LEVEL', 'BOOTSTRAP_KEY']
    const messages = [...names, 'TRUST_PROXY', 'RATE_LIMIT_PER_DAY'].flatMap((name) =>
      ['x', '-1', '[]'].flatMap((value) => [
        messageOf(() => parseNamed(PipelineSettings, { [name]: value })),
        messageOf(() => readServerConfig({ [name]: value }, {})),
      ]),
    )
    const notes = ['', 'x'.repeat(501), '\n'].map((note) =>
      messageOf(() => parseNamed(z.object({ '--note': RestatementNote }), { '--note': note })),
    )
    const said = [...messages, ...notes].filter((message) => message !== '')
    expect(said.length).toBeGreaterThan(25)
    expect(said.filter((message) => WORDS_OF_ZOD.test(message))).toEqual([])
  })
})

it.each([
  'https://ada:secret@host',
  'ftp://ada:secret@host',
  'ada:secret@host',
  'https://ada:se/secret@host',
  'https://ada:se:secret@host',
  'https://ada:"secret x@host',
  'https://ada:x@secret@host:99999',
  'https://secret@host',
  '//secret@host',
  'https://host/path?key=secret&more="secret"',
  'ftp://ada@host?secret',
  'ftp://host?mail=ada@host&key=secret',
])('no error shows the secrets of %s', (url) => {
  const engine = { clickhouse: { ...CLICKHOUSE, url } }
  const message = messageOf(() => parseJson(SourcesFile, JSON.stringify({ engine }), 'f.json', CliError))
  expect(message).toMatch(/engine.clickhouse.url: (?:must|has)/)
  expect(message).not.toContain('secret')
})

it('a build lists the faults of all files, each with its line, with paths as they were given', async () => {
  const workspace = await newWorkspace()
  const sources = [
    { ...PLAIN, time_unit: 'seconds' },
    { ...PLAIN, time_unit: 'hours', visibility: undefined },
    { ...PLAIN, name: 'b', schema: 'litelm-spend-logs', visibility: undefined, modles: 1 },
  ]
  await writeInput(
    workspace,
    'sources.json',
    JSON.stringify({ aliases: 'aliases.csv', engine: {}, sources }, undefined, 1),
  )
  await writeInput(workspace, 'aliases.csv', 'alias,model_permaslug\nx,a\n\nx,b\ny\n')
  await writeInput(workspace, '../data/publisher.json', '{\n"name": 5,\n}')
  const settings = { SOURCES: 'input/sources.json', DATA_DIR: 'data', PUBLIC_DIR: 'public' }
  const { code, stderr } = await runProcess(['build'], settings, workspace.root)
  expect(code).toBe(2)
  expect(stderr).toMatchInlineSnapshot(`
    "tokenboard: 10 faults:
      input/sources.json:3: engine: must have either "clickhouse", to query usage, or "rollup_files", sums from another engine
      input/sources.json:4: sources: cannot be combined with "engine", which provides all usage; remove one of them
      input/sources.json:12: sources[0].time_unit: has no effect without base_time; for Unix time set "base_time": "1970-01-01T00:00:00Z"
      input/sources.json:14: sources[1]: leaves visibility to the model registry, but the file names no "models"; add "models": "models.json", or "visibility": "public" or "private" here
      input/sources.json:15: sources[1].name: two sources have the name "a"
      input/sources.json:20: sources[1].time_unit: must be one of seconds, milliseconds, not "hours"
      input/sources.json:24: sources[2].schema: unknown schema "litelm-spend-logs", did you mean "litellm-spend-logs"?
      input/sources.json:28: sources[2]: unknown key "modles", did you mean "models"?
      input/aliases.csv:5: has 1 field, not 2
      data/publisher.json:2:10: a comma before "}"; remove it
    "
  `)
})

it('a registry lists the faults of its files together', async () => {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'sources.json', { models: 'models.json', aliases: 'aliases.csv', sources: [PLAIN] })
  const models = [
    { model_permaslug: 'a/b', public: true, aliases: ['x', 'c'] },
    { model_permaslug: 'a/b', public: false },
    { model_permaslug: 'c', public: true },
  ]
  await writeInput(workspace, 'models.json', JSON.stringify(models, undefined, 1))
  await writeInput(workspace, 'aliases.csv', 'model_permaslug,alias\n"=b",y\na/b,x\n')
  const { stderr } = await runBuild(workspace)
  expect(stderr.replaceAll(`${workspace.root}/`, '')).toMatchInlineSnapshot(`
    "tokenboard: 4 faults:
      input/models.json:11: model "a/b" is listed twice
      input/aliases.csv:2: model_permaslug "=b" begins with =, or has it after a separator: a spreadsheet would run it as a formula
      input/models.json:7: alias "c" is also the slug of a model
      input/aliases.csv:3: alias "x" is given twice
    "
  `)
})

it.each([
  ['alias,slug\na,b\n', '1: must begin with the line alias,model_permaslug, not alias,slug'],
  ['alias,model_permaslug\na,b,c\n', '2: has 3 fields, not 2'],
  ['alias,model_permaslug\n\n,b\n', '3: alias is empty'],
  ['alias,model_permaslug\na,"b\n', '2: a quote that does not end'],
  ['alias,model_permaslug\na,b"c\n', '2: a quote inside of a field that does not begin with one'],
  ['alias,model_permaslug\na,"b"c\n', '2: a quote inside of a quoted field; write it twice'],
])('aliases %j: %s', async (text, message) => {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'sources.json', { aliases: 'aliases.csv', sources: [PLAIN] })
  await writeInput(workspace, 'aliases.csv', text)
  const { stderr } = await runBuild(workspace)
  expect(stderr).toContain(`aliases.csv:${message}\n`)
})

it.each([
  [['build', '--reread', 'x'], 'tokenboard: --reread must have the form YYYY-MM-DD, not "x"\n'],
  [['archive', '--before', '2026-02-30'], 'tokenboard: --before is not a date of the calendar: "2026-02-30"\n'],
])('%j: %s', async (words, said) => {
  const { code, stderr } = await runProcess(words, {})
  expect(stderr).toBe(said)
  expect(code).toBe(2)
})
