/**
 * The Iceberg table in an export, read by the code of docs/history.md: DuckDB reads it from a static host, PyIceberg
 * from the folder. Their packages, DuckDB's extensions too, come from PyPI; without it the tests are skipped and say so.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { DATASET_PATH } from '../../pipeline/contract/manifest.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import {
  createWorkspace,
  REPOSITORY,
  readLatest,
  removeWorkspace,
  settings,
  type Workspace,
} from '../support/pipeline.ts'
import { startHost } from '../support/static-host.ts'
import { EARLIER, releaseWeek } from '../support/week.ts'
import { skipLoudly } from '../system/hosting.ts'
import { pythonWith } from './python.ts'
import { runTool } from './tools.ts'

const TOOLS = [
  'duckdb==1.5.5',
  'duckdb-extension-avro==1.5.5',
  'duckdb-extension-httpfs==1.5.5',
  'duckdb-extension-iceberg==1.5.5',
  'pyiceberg[pyarrow]==0.12.0',
]

/** Runs SQL with the extensions of the packages, and prints the rows of the last statement. */
const RUN_SQL = `
import importlib.resources, sys
import duckdb
with duckdb.connect(config={"extension_directory": sys.argv[2]}) as database:
    for name in ["avro", "httpfs", "iceberg"]:
        [file] = importlib.resources.files("duckdb_extension_" + name).joinpath("extensions").rglob("*.duckdb_extension")
        database.execute(f"INSTALL '{file}'")
    for row in database.execute(open(sys.argv[1]).read()).fetchall():
        print(*row, sep=",")
`

let workspace: Workspace
let code: string
let releases: string[]

beforeAll(async () => {
  workspace = await createWorkspace()
  await releaseWeek(workspace)
  releases = [EARLIER, (await readLatest(workspace)).release]
  const page = await readFile(join(REPOSITORY, 'docs/history.md'), 'utf8')
  code = page.split('\n## Iceberg\n')[1]?.split('\n## ')[0] ?? ''
})

afterAll(() => removeWorkspace(workspace))

async function exportAt(folder: string, base: string): Promise<void> {
  const { signal } = new AbortController()
  const effects = { now: () => new Date(0), report: () => {}, signal, files: realFiles }
  await exportPublished(readPipelineConfig(settings(workspace, '')), effects, { folder, base })
}

/** The documented code of a language, for the files at `base` and a release. */
async function writeCode(language: 'sql' | 'python', base: string, release: string): Promise<string> {
  const [, text = ''] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(code) ?? []
  const path = join(workspace.root, `code.${language}`)
  const own = text.replace(/(http:\/\/127\.0\.0\.1:8080|file:\/\/\/srv\/tokens)\//, base)
  await writeFile(path, own.replace('20261120001200', release.replaceAll(/\D/g, '')))
  return path
}

/** The rows of a release as the code prints them. */
async function rowsOf(release: string): Promise<string[]> {
  const path = join(workspace.publicDir, DATASET_PATH, 'releases', release, 'rankings-daily.csv')
  return sorted(await readFile(path, 'utf8')).filter((line) => !line.startsWith('date,'))
}

function sorted(lines: string): string[] {
  return lines.trimEnd().split('\n').sort()
}

it('is read by DuckDB from a static host, and each snapshot has the rows of its release', async ({ skip }) => {
  const python = await pythonWith(TOOLS)
  if (!('bin' in python)) return skipLoudly(skip, python.reason)
  const folder = join(workspace.root, 'hosted')
  await mkdir(folder)
  const host = await startHost(folder)
  await exportAt(folder, host.url)
  for (const release of releases) {
    const words = ['-c', RUN_SQL, await writeCode('sql', host.url, release), join(workspace.root, 'extensions')]
    const { stdout, stderr } = await runTool(join(python.bin, 'python'), words)
    expect(sorted(stdout), stderr).toEqual(await rowsOf(release))
  }
  await host.stop()
})

it('is read by PyIceberg from a folder, and each snapshot has the rows of its release', async ({ skip }) => {
  const python = await pythonWith(TOOLS)
  if (!('bin' in python)) return skipLoudly(skip, python.reason)
  const folder = join(workspace.root, 'copied')
  await exportAt(folder, `file://${folder}`)
  for (const release of releases) {
    const { stdout, stderr } = await runTool(join(python.bin, 'python'), [
      await writeCode('python', `file://${folder}/`, release),
    ])
    expect(sorted(stdout), stderr).toEqual(await rowsOf(release))
  }
})
