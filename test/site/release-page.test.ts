import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { releaseChart, releasePage } from '../../pipeline/site/release-page.ts'
import { manifestOf } from '../support/manifest.ts'
import {
  buildIn,
  createWorkspace,
  releaseFolder,
  removeWorkspace,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { faultsOf, linksOf, tableRows, textOf } from '../support/site.ts'
import { CHANGES, QUALITY, ROWS, TOLD } from './release-facts.ts'

const FOLDER = 'datasets/rankings-daily/v1/releases/20261120T001200Z/'
function render(changes: Partial<Manifest> = {}, facts: Partial<Parameters<typeof releasePage>[1]> = {}): string {
  const manifest = manifestOf({ changes: TOLD, ...changes })
  return String(releasePage(manifest, { rows: ROWS, changes: CHANGES, quality: QUALITY, ...facts }).text)
}
const text = render()

describe('the page of a release', () => {
  it('reaches its files beside it, and the site above it, by relative links', () => {
    const links = linksOf({ path: `${FOLDER}index.html`, text })
    expect(links).toEqual(
      expect.arrayContaining(['rankings-daily.csv', 'chart.svg', 'SHA256SUMS'].map((file) => FOLDER + file)),
    )
    expect(links).toEqual(expect.arrayContaining(['index.html', 'changelog.html', 'assets/site.css']))
  })

  it('links to nothing that may be gone one day, or that has another depth: other releases, latest/', () => {
    const links = linksOf({ path: `${FOLDER}index.html`, text })
    expect(links.filter((link) => link.startsWith('datasets/') && !link.startsWith(FOLDER))).toEqual([])
    expect(links).toContain('changelog/2026.html')
  })

  it('is content with the first release, and with one that changes no row', () => {
    expect(textOf(render({ changes: { ...TOLD, previous: null } }))).toContain('This is the first release.')
    expect(textOf(render({}, { changes: [] }))).toContain('No row differs from release 20261119T001200Z')
  })

  it('says nothing that stops being true: it never changes', () => {
    expect(textOf(text)).not.toMatch(/\bcurrent\b|latest (version|release) is|newest release is/i)
    expect(text).not.toContain('aria-current')
  })

  it('marks made-up data', () => expect(textOf(render({ synthetic: true }))).toContain('SYNTHETIC SAMPLE DATA'))

  it('keeps to the policy, is light and always the same', () => {
    expect(faultsOf(text)).toEqual([])
    expect(Buffer.byteLength(text)).toBeLessThan(100_000)
    expect(render()).toBe(text)
  })
})

describe('chart.svg', () => {
  it('is a drawing of its own, the same for the same rows', () => {
    const { path, text: svg } = releaseChart(ROWS)
    expect(path).toBe('chart.svg')
    expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"')
    expect(svg).toContain('acme/&lt;two&gt;')
    expect(releaseChart(ROWS).text).toBe(svg)
  })
})

describe('a release as it is built', () => {
  let workspace: Workspace
  let folder: string

  beforeAll(async () => {
    workspace = await createWorkspace()
    const records = [{ model_permaslug: 'acme/one', prompt_tokens: '5' }]
    await writeSmallBuild(workspace, { sources: [{ records }] })
    await buildIn(workspace)
    const later = [{ model_permaslug: 'acme/two', prompt_tokens: '9' }]
    await writeSmallBuild(workspace, { sources: [{ records: [...records, ...later] }] })
    await buildIn(workspace, '2025-03-11T12:00:00Z')
    folder = await releaseFolder(workspace)
    return () => removeWorkspace(workspace)
  })

  it('lists page and chart as files of its own, sealed with the rest', async () => {
    const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
    const media = new Map(manifest.files.map(({ path, media_type }) => [path, media_type]))
    expect(media.get('index.html')).toBe('text/html; charset=utf-8')
    expect(media.get('chart.svg')).toBe('image/svg+xml')
    expect(await readFile(join(folder, 'SHA256SUMS'), 'utf8')).toMatch(/ {2}index\.html\n/)
  })

  it('has on its page every file but the page itself, and what changed', async () => {
    const page = await readFile(join(folder, 'index.html'), 'utf8')
    const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
    const others = manifest.files.map(({ path }) => path).filter((path) => path !== 'index.html')
    expect(tableRows(page, 'Files of this release').map(([path]) => path)).toEqual(others)
    expect(textOf(page)).toContain('1 row new')
  })

  it('links to files that are there', async () => {
    const path = folder.slice(workspace.publicDir.length + 1)
    const page = await readFile(join(folder, 'index.html'), 'utf8')
    const below = linksOf({ path: join(path, 'index.html'), text: page }).filter((link) => link.startsWith('datasets/'))
    expect(below.length).toBeGreaterThan(10)
    for (const link of below) await readFile(join(workspace.publicDir, link))
    expect(textOf(page)).toContain('Against release 20250310T120000Z')
    await readFile(join(workspace.publicDir, 'changelog/2025.html'))
  })
})
