/** `tokenboard export --for hugging-face`. `test/clients/hugging-face.test.ts` loads the folder with the library `datasets`. */
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { jsonIfAny } from '../../pipeline/base/json.ts'
import { type ExportSummary, exportPublished } from '../../pipeline/publication/export.ts'
import { CHANGE_FIELDS, type FieldDescription, MODEL_FIELDS } from '../../pipeline/release/documents/fields.ts'
import { writeOddBuild } from '../support/odd-build.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  newWorkspace,
  releaseFolder,
  removeWorkspace,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER, writePublisher } from '../support/publisher.ts'
import { query, sqlText } from '../support/records.ts'
import { madeBy060 } from '../support/reseal.ts'

/** Each part of it ends or begins something in YAML. */
const TITLE = '"Tokens": [per] \'model\' # {x}\n---\nlicense: mit\n--- \u0085\u2028\u{1f600} \\'
const LATER = '2025-03-11T12:00:00Z'

let built: Workspace

beforeAll(async () => {
  built = await createWorkspace()
  await writePublisher(built.dataDir, { ...TEST_PUBLISHER, title: TITLE })
  await writeOddBuild(built)
  await buildIn(built)
  return () => removeWorkspace(built)
})

async function newTarget(): Promise<string> {
  return join((await newWorkspace()).root, 'hub')
}

function exportFrom(
  { publicDir, dataDir }: Workspace,
  folder: string,
  { repo, report = () => {} }: { repo?: string; report?: (event: BuildEvent) => void } = {},
): Promise<ExportSummary> {
  const config = readPipelineConfig({ PUBLIC_DIR: publicDir, DATA_DIR: dataDir })
  const { signal } = new AbortController()
  const effects = { now: () => new Date(0), report, signal, files: realFiles }
  return exportPublished(config, effects, { folder, hub: { repo } })
}

/** The scalars of the front matter, which are JSON, by line. */
function frontMatter(card: string): string[] {
  const [, lines = ''] = /^---\n(.*?\n)---\n/s.exec(card) ?? []
  return lines.trimEnd().split('\n')
}

function configsOf(card: string): string[] {
  return frontMatter(card).flatMap((line) => /config_name: "(\w+)"$/.exec(line)?.[1] ?? [])
}

async function typesIn(path: string): Promise<string[]> {
  const columns = await query(`DESCRIBE FROM read_parquet(${sqlText(path)})`)
  return columns.map(({ column_name, column_type }) => `${column_name} ${column_type}`)
}

function typesOf(fields: readonly FieldDescription[]): string[] {
  return fields.map(({ name, sql_type }) => `${name} ${sql_type}`)
}

describe('an export for Hugging Face', () => {
  it('has the Parquet files of the release, and its other tables as Parquet with the same values', async () => {
    const folder = await newTarget()
    expect(await exportFrom(built, folder)).toMatchObject({ outcome: 'exported', removed: 0 })
    const release = await releaseFolder(built)
    const copied = [
      'rankings-daily.parquet',
      'rankings-weekly.parquet',
      'rankings-monthly.parquet',
      'manifest.json',
      'CITATION.cff',
      'datasheet.md',
    ]
    for (const name of copied) {
      expect(await readFile(join(folder, name)), name).toEqual(await readFile(join(release, name)))
    }
    for (const [name, fields] of Object.entries({ models: MODEL_FIELDS, changes: CHANGE_FIELDS })) {
      const [parquet, csv] = [join(folder, `${name}.parquet`), join(release, `${name}.csv`)].map(sqlText)
      expect(await typesIn(join(folder, `${name}.parquet`))).toEqual(typesOf(fields))
      const values = `SELECT coalesce(COLUMNS(*)::VARCHAR, '') FROM`
      const rows = await query(`${values} ${parquet}`)
      expect(rows.length).toBeGreaterThan(50)
      expect(rows).toEqual(await query(`${values} read_csv(${csv}, all_varchar = true, header = true)`))
    }
    expect(
      Object.keys(await snapshotTree(folder))
        .filter((path) => !path.startsWith('.'))
        .toSorted(),
    ).toEqual([...copied, 'LICENSE', 'README.md', 'changes.parquet', 'models.parquet'].toSorted())
  })

  it('has a card whose front matter stays YAML with any title, and names repository, release and credit', async () => {
    const folder = await newTarget()
    await exportFrom(built, folder, { repo: 'acme/tokens' })
    const card = await readFile(join(folder, 'README.md'), 'utf8')
    const lines = frontMatter(card)
    for (const line of lines) {
      const [, value = ''] = /^(?:[a-z_]+:| {2}-| {4}[a-z_]+:)(?: [a-z_]+:)?(?: (.*))?$/.exec(line) ?? [
        line,
        'not YAML',
      ]
      if (value !== '') expect(jsonIfAny(value), line).toBeDefined()
    }
    const titles = lines.filter((line) => line.startsWith('pretty_name: '))
    expect(titles.map((line) => jsonIfAny(line.slice('pretty_name: '.length)))).toEqual([TITLE])
    expect(lines.filter((line) => line.startsWith('license:'))).toEqual(['license: "cc-by-4.0"'])
    expect(configsOf(card)).toEqual(['daily', 'weekly', 'monthly', 'models', 'changes'])
    expect(card).toContain('\n  - config_name: "daily"\n    data_files: "rankings-daily.parquet"\n    default: true\n')
    expect(card).toContain('load_dataset("acme/tokens", "daily", split="train")')
    expect(card).toContain(`Source: ${TEST_PUBLISHER.name}`)
    expect(card).toContain('datasets/rankings-daily/v1/releases/20250310T120000Z/>')
  })

  it('has one configuration less for each table that a release does not have', async () => {
    const workspace = await copyWorkspace(built)
    await madeBy060(workspace, '20250310T120000Z')
    const folder = await newTarget()
    await exportFrom(workspace, folder)
    expect(configsOf(await readFile(join(folder, 'README.md'), 'utf8'))).toEqual(['daily', 'models', 'changes'])
  })

  it('is not made of a damaged file', async () => {
    const workspace = await copyWorkspace(built)
    const path = join(await releaseFolder(workspace), 'models.csv')
    await appendFile(path, 'x,,,[],,,0,,,0\n')
    const folder = await newTarget()
    await expect(exportFrom(workspace, folder)).rejects.toThrow(`${path} does not have the checksum`)
    expect(await snapshotTree(folder).catch(() => ({}))).toEqual({})
  })
})

describe('the next export for Hugging Face', () => {
  it('brings the repository up to date, leaves hidden files alone and replaces damaged ones', async () => {
    const workspace = await copyWorkspace(built)
    const folder = await newTarget()
    await exportFrom(workspace, folder)
    await writeFile(join(folder, '.gitattributes'), '*.parquet filter=lfs\n')
    expect(await exportFrom(workspace, folder)).toMatchObject({ outcome: 'unchanged' })
    await writeFile(join(folder, 'models.parquet'), 'PAR1')
    await rm(join(folder, 'LICENSE'))
    const notices: string[] = []
    const report = (event: BuildEvent) => event.kind === 'notice' && notices.push(event.message)
    expect(await exportFrom(workspace, folder, { report })).toMatchObject({ mended: ['LICENSE', 'models.parquet'] })
    expect(notices).toHaveLength(2)
    // Only the publisher changes, so that no row does: `datasets` loads no table without rows.
    await writePublisher(workspace.dataDir, { ...TEST_PUBLISHER, title: 'Another title' })
    await buildIn(workspace, LATER)
    await exportFrom(workspace, folder)
    const fresh = await newTarget()
    await exportFrom(workspace, fresh)
    expect(await readFile(join(folder, '.gitattributes'), 'utf8')).toBe('*.parquet filter=lfs\n')
    await rm(join(folder, '.gitattributes'))
    expect(await snapshotTree(folder)).toEqual(await snapshotTree(fresh))
    const card = await readFile(join(folder, 'README.md'), 'utf8')
    expect(configsOf(card)).toEqual(['daily', 'weekly', 'monthly', 'models'])
    expect(card).toContain('there is no configuration `changes`')
    expect(await typesIn(join(folder, 'changes.parquet'))).toEqual(typesOf(CHANGE_FIELDS))
  })
})

describe('what does not fit', () => {
  it.each([
    [['--for', 'hugging-face', '--no-symlinks'], '--no-symlinks cannot be used with --for hugging-face'],
    [['--for', 'hugging-face', '--base', 'https://a.example'], '--base cannot be used with --for hugging-face'],
    [['--repo', 'acme/tokens'], '--repo is for --for hugging-face'],
    [['--for', 'hugging-face', '--repo', 'tokens'], 'such as acme/tokens'],
    [['--for', 'kaggle'], 'Allowed choices are hugging-face'],
  ])('%j is wrong usage', async (flags, why) => {
    const { code, stderr } = await runCli(['export', await newTarget(), ...flags], settings(built, ''))
    expect(code).toBe(2)
    expect(stderr).toContain(why)
  })

  it('an export does not replace one of another kind', async () => {
    const [site, hub] = [await newTarget(), await newTarget()]
    const environment = settings(built, '')
    await runCli(['export', site], environment)
    await runCli(['export', hub, '--for', 'hugging-face'], environment)
    const before = [await snapshotTree(site), await snapshotTree(hub)]
    const refused = [
      await runCli(['export', site, '--for', 'hugging-face'], environment),
      await runCli(['export', hub], environment),
    ]
    expect(refused.map(({ code }) => code)).toEqual([2, 2])
    expect(refused.map(({ stderr }) => /holds an export for (.*);/.exec(stderr)?.[1])).toEqual([
      'a static host',
      'Hugging Face',
    ])
    expect([await snapshotTree(site), await snapshotTree(hub)]).toEqual(before)
  })
})
