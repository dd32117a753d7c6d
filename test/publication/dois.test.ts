/** DOIs of deposited releases: beside the releases, and in those that come later. A release never changes. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { toJson } from '../../pipeline/base/json.ts'
import type { Dois } from '../../pipeline/contract/dois.ts'
import { DOIS_PATH } from '../../pipeline/contract/published-paths.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { reproduce } from '../../pipeline/reproduce.ts'
import {
  buildIn,
  crowd,
  datasetFolder,
  newWorkspace,
  runBuild,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  withdrawIn,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { verifyFolder } from '../support/releases.ts'

const [FIRST, SECOND, THIRD] = ['20250310T120000Z', '20250310T130000Z', '20250310T140000Z'] as const

const DOIS: Dois = {
  concept_doi: '10.5281/zenodo.100',
  // The first is of an earlier chain: nothing names it.
  releases: { '20240101T120000Z': '10.5281/zenodo.99', [FIRST]: '10.5281/zenodo.101' },
}

const writeDois = ({ dataDir }: Workspace, dois: object = DOIS) => writeFile(join(dataDir, 'dois.json'), toJson(dois))

const readPublished = async ({ publicDir }: Workspace, path: string) =>
  JSON.parse(await readFile(join(publicDir, path), 'utf8'))

async function pagesWith({ publicDir }: Workspace, text: string): Promise<string[]> {
  const paths = ['changelog.html', 'sitemap.xml', 'catalog.json', 'datasets/rankings-daily/v1/index.html']
  const found = await Promise.all(
    paths.map(async (path) => (await readFile(join(publicDir, path), 'utf8')).includes(text)),
  )
  return paths.filter((_, position) => found[position])
}

it('publishes DOIs beside the releases, and puts the concept DOI into later ones', async () => {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => 1) }] })
  await buildIn(workspace, '2025-03-10T12:00:00Z')
  const before = await snapshotTree(join(datasetFolder(workspace), 'releases', FIRST))

  // A deposit alone makes no release, and what lies beside is made again.
  await writeDois(workspace)
  expect((await buildIn(workspace, '2025-03-10T12:30:00Z')).outcome).toBe('unchanged')
  expect(await readPublished(workspace, DOIS_PATH)).toEqual({
    dataset: 'rankings-daily',
    concept_doi: '10.5281/zenodo.100',
    releases: [{ release: FIRST, doi: '10.5281/zenodo.101' }],
  })
  expect(await snapshotTree(join(datasetFolder(workspace), 'releases', FIRST))).toEqual(before)
  expect(await pagesWith(workspace, '10.5281/zenodo.101')).toEqual(['changelog.html'])
  expect(await pagesWith(workspace, 'dois.json')).toEqual([
    'sitemap.xml',
    'catalog.json',
    'datasets/rankings-daily/v1/index.html',
  ])
  await verifyFolder(workspace.publicDir)

  await writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => 2) }] })
  await buildIn(workspace, '2025-03-10T13:00:00Z')
  const manifest = await readPublished(workspace, `datasets/rankings-daily/v1/releases/${SECOND}/manifest.json`)
  expect(manifest).toMatchObject({
    concept_doi: '10.5281/zenodo.100',
    changes: { facts: ['content_hash', 'weekly_content_hash', 'monthly_content_hash'] },
  })
  const effects = { now: () => new Date(), report: () => {}, signal: new AbortController().signal, files: realFiles }
  expect((await reproduce(readPipelineConfig(settings(workspace, '')), effects)).equal).toBe(true)

  const words = ['withdraw', FIRST, '--reason', 'It was wrong.', '--dry-run']
  const { stderr } = await runCli(words, settings(workspace, '2025-03-10T13:30:00Z'))
  expect(stderr).toContain('  deposit   doi:10.5281/zenodo.101 stays at its repository; see docs/publishing.md\n')

  await writeDois(workspace, { ...DOIS, releases: { ...DOIS.releases, [SECOND]: '10.5281/zenodo.102' } })
  await withdrawIn(workspace, SECOND, '2025-03-10T13:30:00Z')
  const published = await readPublished(workspace, DOIS_PATH)
  const [first, second] = published.releases
  expect([first.withdrawn, second]).toEqual([
    undefined,
    { release: SECOND, doi: '10.5281/zenodo.102', withdrawn: true },
  ])
  expect(await pagesWith(workspace, '10.5281/zenodo.101')).toEqual(['changelog.html'])
  const copy = join(workspace.root, 'copy')
  await exportPublished(readPipelineConfig(settings(workspace, '')), effects, { folder: copy })
  expect(await readFile(join(copy, DOIS_PATH))).toEqual(await readFile(join(workspace.publicDir, DOIS_PATH)))

  const unknown = { release: THIRD, doi: '10.5281/zenodo.1' }
  const wrong = [
    [[unknown], `dois.json has a DOI of ${THIRD}, which releases/index.json does not list`],
    [[first, first], `dois.json must list each release once, oldest first; see ${FIRST}`],
    [[second, first], `dois.json must list each release once, oldest first; see ${FIRST}`],
  ] as const
  for (const [releases, message] of wrong) {
    await writeFile(join(copy, DOIS_PATH), toJson({ ...published, releases }))
    await expect(verifyFolder(copy)).rejects.toThrow(message)
  }

  // Without the file, nothing of it stays.
  await rm(join(workspace.dataDir, 'dois.json'))
  await buildIn(workspace, '2025-03-10T14:00:00Z')
  expect(Object.keys(await snapshotTree(workspace.publicDir)).filter((path) => path.includes('dois'))).toEqual([])
  await verifyFolder(workspace.publicDir)
})

it('stops a build at a faulty dois.json, and names file and field', async () => {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: crowd(1, () => 1) }] })
  await writeDois(workspace, { ...DOIS, concept_doi: 'zenodo.100' })
  const { code, stderr } = await runBuild(workspace)
  expect(code).toBe(2)
  expect(stderr).toContain(
    'data/dois.json:2: concept_doi: must be a DOI, such as 10.5281/zenodo.1234567, not "zenodo.100"',
  )
})
