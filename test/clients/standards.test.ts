/**
 * Releases before the standards' own validators, and read by the libraries that people use in Python. All of these come
 * from PyPI; where it or `python3 -m venv` cannot be reached, the tests are skipped and say so.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { markdownTable } from '../../pipeline/base/markdown.ts'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { TABLES } from '../../pipeline/contract/tables.ts'
import { RANKINGS, testApp } from '../support/app.ts'
import { type Reading, readWithJavaScript, withVersion } from '../support/javascript-readers.ts'
import { writeOddBuild } from '../support/odd-build.ts'
import {
  buildIn,
  createWorkspace,
  datasetFolder,
  releaseFolder,
  removeWorkspace,
  type Workspace,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER, writePublisher } from '../support/publisher.ts'
import { skipLoudly } from '../system/hosting.ts'
import { DATA_TOOLS, type Python, pythonWith } from './python.ts'
import { runTool } from './tools.ts'

/** In an environment of its own: it wants an older jsonschema than frictionless does. */
const CITATIONS = ['cffconvert==2.0.0']

let workspace: Workspace
let folder: string
let previous: string
let manifest: Manifest
let tools: Python
let citations: Python

beforeAll(async () => {
  workspace = await createWorkspace()
  await writeOddBuild(workspace)
  await buildIn(workspace)
  previous = await releaseFolder(workspace)
  await writePublisher(workspace.dataDir, { ...TEST_PUBLISHER, ror: 'https://ror.org/01bj3aw27' })
  await buildIn(workspace, '2025-03-10T13:00:00Z')
  folder = await releaseFolder(workspace)
  manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
  tools = await pythonWith(DATA_TOOLS)
  citations = await pythonWith(CITATIONS)
})

afterAll(() => removeWorkspace(workspace))

/** The programs of an environment; without one the test is skipped, loudly. */
function programs(python: Python, { skip }: TestContext): string {
  if ('bin' in python) return python.bin
  return skipLoudly(skip, python.reason)
}

async function succeed(command: string, words: readonly string[], cwd = folder): Promise<string> {
  const { code, stdout, stderr } = await runTool(command, words, cwd)
  expect(code, `${command} ${words.join(' ')}\n${stdout}\n${stderr}`).toBe(0)
  return stdout
}

function script(name: string): string {
  return fileURLToPath(new URL(`./${name}`, import.meta.url))
}

interface ReadMetadata {
  bibtex: Record<string, string>[]
  record_sets: Record<string, { records: number; columns: string[]; differences: unknown[] }>
}

async function readMetadata(release: string, test: TestContext): Promise<ReadMetadata> {
  const bin = programs(tools, test)
  return JSON.parse(await succeed(join(bin, 'python'), [script('metadata.py'), release]))
}

/** The address of the page of a release, which citations lead to. */
function addressOf(release: string): string {
  return `${TEST_PUBLISHER.url}/datasets/rankings-daily/v1/releases/${basename(release)}/`
}

describe('a release', () => {
  it('passes sha256sum --check', async () => {
    await succeed('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'])
  })

  it('passes frictionless validate, every resource of it', async (test) => {
    const bin = programs(tools, test)
    const report = JSON.parse(await succeed(join(bin, 'frictionless'), ['validate', 'datapackage.json', '--json']))
    expect(report.valid).toBe(true)
    const { resources } = JSON.parse(await readFile(join(folder, 'datapackage.json'), 'utf8'))
    const counted = resources.flatMap(({ rows }: { rows?: number }, index: number) => {
      return rows === undefined ? [] : [[rows, report.tasks[index].stats.rows ?? 0]]
    })
    expect(counted.length).toBeGreaterThan(3)
    for (const [rows, found] of counted) expect(found).toBe(rows)
  })

  it('fails frictionless validate when a value breaks a rule', async (test) => {
    const bin = programs(tools, test)
    const broken = join(workspace.root, 'broken')
    await mkdir(broken)
    await succeed('cp', ['-r', `${folder}/.`, broken])
    await succeed('sed', ['-i', '$s/,[0-9]*$/,-1/', 'rankings-daily.csv'], broken)
    const { code } = await runTool(join(bin, 'frictionless'), ['validate', 'datapackage.json'], broken)
    expect(code).not.toBe(0)
  })

  it('passes mlcroissant validate without a warning, like the live description', async (test) => {
    const bin = programs(tools, test)
    for (const path of [join(folder, 'croissant.json'), join(datasetFolder(workspace), 'croissant.json')]) {
      const { code, stdout, stderr } = await runTool(join(bin, 'mlcroissant'), ['validate', '--jsonld', path])
      expect(code, stderr).toBe(0)
      expect(stdout + stderr).not.toMatch(/warning|error/i)
    }
  })

  it('has records of all tables that Croissant reads to the last digit, also without changes', async (test) => {
    const [first, second] = await Promise.all([previous, folder].map((each) => readMetadata(each, test)))
    const rankings = TABLES.flatMap((table) => [`rankings-${table}-parquet`, `rankings-${table}-csv`])
    const changes = ['changes-csv', 'changes-weekly-csv', 'changes-monthly-csv']
    expect(Object.keys(first?.record_sets ?? {})).toEqual([...rankings, ...changes, 'models-csv'])
    for (const { record_sets } of [first, second].filter((each) => each !== undefined)) {
      for (const [name, { differences }] of Object.entries(record_sets)) expect(differences, name).toEqual([])
    }
    expect(first?.record_sets['changes-csv']?.records).toBe(manifest.rows)
    expect(second?.record_sets['changes-csv']?.records).toBe(0)
    expect(first?.record_sets['rankings-daily-csv']?.columns).toEqual(['date', 'model_permaslug', 'total_tokens'])
  })

  it('is cited by BibTeX as its reader understands it', async (test) => {
    const { bibtex } = await readMetadata(folder, test)
    const { publisher, release } = manifest
    const url = addressOf(folder)
    const [title, name] = [`{${publisher.title}}`, `{${publisher.name}}`]
    expect(bibtex).toEqual([expect.objectContaining({ type: 'dataset', title, author: name, version: release, url })])
  })

  it('passes cffconvert --validate, and converts to APA', async (test) => {
    const bin = programs(citations, test)
    for (const file of [join(folder, 'CITATION.cff'), join(workspace.publicDir, 'CITATION.cff')]) {
      await succeed(join(bin, 'cffconvert'), ['--validate', '--infile', file])
    }
    const apa = await succeed(join(bin, 'cffconvert'), ['--format', 'apalike', '--infile', 'CITATION.cff'])
    const { publisher, release } = manifest
    expect(apa.trim()).toBe(
      `${publisher.name} (2025). ${publisher.title} (version ${release}). URL: ${addressOf(folder)}`,
    )
  })

  it('is RDF with its files as downloads and valid DCAT-AP 3, like the catalogue', async (test) => {
    const bin = programs(tools, test)
    const documents = [join(folder, 'dcat.jsonld'), join(workspace.publicDir, 'dcat.jsonld')]
    const words = [script('graph.py'), script('dcat-ap.shapes.ttl'), ...documents]
    const [release, catalog] = JSON.parse(await succeed(join(bin, 'python'), words))
    const place = { releases: [`file://${folder}`], series: [`file://${datasetFolder(workspace)}/`] }
    expect(release).toMatchObject({ ...place, services: [], faults: [] })
    const services = [`file://${workspace.publicDir}/docs/index.html#service`]
    expect(catalog).toMatchObject({ ...place, services, faults: [], downloads: release.downloads })
    expect(release.downloads).toContain(`file://${join(folder, 'rankings-daily.parquet')}`)
  })

  it('is faulted by the shapes of DCAT-AP if it lacks what they ask for', async (test) => {
    const bin = programs(tools, test)
    const described = JSON.parse(await readFile(join(folder, 'dcat.jsonld'), 'utf8'))
    const { 'dcat:theme': _theme, 'dct:publisher': _publisher, ...poor } = described
    const path = join(workspace.root, 'poor.jsonld')
    await writeFile(path, JSON.stringify({ ...poor, 'dcat:isVersionOf': '../../' }))
    const words = [script('graph.py'), script('dcat-ap.shapes.ttl'), path]
    const [{ faults }] = JSON.parse(await succeed(join(bin, 'python'), words))
    const named = ['terms/publisher', 'dcat#isVersionOf', 'dcat#theme']
    for (const [position, name] of named.entries()) expect(faults[position]).toContain(name)
    expect(faults).toHaveLength(named.length)
  })
})

describe('pandas, polars, pyarrow, DuckDB for Python and hyparquet', () => {
  it('read every format with the rows of content_hash and the sums of the API', async (test) => {
    const bin = programs(tools, test)
    const python: Reading[] = JSON.parse(await succeed(join(bin, 'python'), [script('readers.py'), folder]))
    const javascript = await Promise.all(TABLES.map((table) => readWithJavaScript(folder, table)))
    const readings = [...python, ...javascript]
    expect(readings).toHaveLength(63)
    const daily = { ...(await sumsOfApi()), content_hash: manifest.content_hash }
    for (const reading of readings) {
      const facts = reading.table === 'daily' ? daily : manifest.tables?.[reading.table]
      // All rows of each table have the same sum.
      const expected = { rows: facts?.rows, content_hash: facts?.content_hash, tokens: daily.tokens }
      expect(reading, JSON.stringify(reading)).toMatchObject(expected)
    }
    await expect(typeTable(readings)).toMatchFileSnapshot('../../docs/readers.md')
  })
})

/** What the API answers for all dates of the release. */
async function sumsOfApi(): Promise<{ rows: number; tokens: string }> {
  const { app, authorized } = await testApp({
    publicDir: workspace.publicDir,
    clock: () => new Date(manifest.as_of),
  })
  const url = `${RANKINGS}?start_date=${manifest.start_date}&end_date=${manifest.end_date}`
  const answer = await app.inject({ url, headers: authorized })
  const { data } = answer.json<{ data: { total_tokens: string }[] }>()
  const tokens = data.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)
  return { rows: data.length, tokens: String(tokens) }
}

/** The type of `days` in the tables of weeks and months, where the other types are those of days. */
function daysOf(readings: readonly Reading[], reader: string, file: string): string {
  const [daily = [], ...periods] = readings
    .filter((each) => each.reader === reader && each.file === file)
    .map(({ types }) => types)
  for (const types of periods) expect(types).toEqual([...daily, periods[0]?.at(-1)])
  return periods[0]?.at(-1) ?? ''
}

/** `docs/readers.md`: which types each reader gives to the columns of each file. */
function typeTable(readings: readonly Reading[]): string {
  const versions = new Map(DATA_TOOLS.map((each) => each.split('==') as [string, string]))
  const daily = readings.filter(({ table }) => table === 'daily')
  const alike = Map.groupBy(daily, ({ reader, file, types }) =>
    [
      versions.has(reader) ? `${reader} ${versions.get(reader)}` : withVersion(reader),
      ...types.map((type) => `\`${type}\``),
      `\`${daysOf(readings, reader, file)}\``,
    ].join('\n'),
  )
  const rows = [...alike].map(([key, same]) => {
    const [reader = '', ...types] = key.split('\n')
    return [reader, same.map(({ file }) => `\`.${file}\``).join(', '), ...types]
  })
  return `# Which reader sees which type

Measured by \`test/clients/standards.test.ts\` on a release with odd slugs and numbers beyond 2^53, and written by it (\`-u\`):
each of these reads every row to the last digit. \`test/clients/readers.py\` and \`test/support/javascript-readers.ts\` have the calls.

${markdownTable(['reader', 'file', '`date`', '`model_permaslug`', '`total_tokens`', '`days`'], rows)}
The files of all three tables have the same types; \`days\` is in those of weeks and months.

- CSV has no types, so readers guess. pandas takes the slugs \`null\` and \`NaN\` for missing values unless it is told
  \`keep_default_na=False\`.
- JSON and NDJSON write \`total_tokens\` as text, because a day may exceed what JavaScript counts exactly: cast it.
- pandas gives the dates of Parquet as objects; \`dtype_backend="pyarrow"\` keeps them dates.
- hyparquet needs a decompressor for zstd, such as fzstd: \`compressors: { ZSTD: decompress }\`.
`
}
