import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ChangeRow } from '../../../pipeline/contract/history.ts'
import { Manifest, type ReleaseChanges } from '../../../pipeline/contract/manifest.ts'
import type { PublicQuality } from '../../../pipeline/dataset/records.ts'
import { releaseChart, releasePage } from '../../../pipeline/site/release-page.ts'
import { manifestOf } from '../../support/manifest.ts'
import {
  buildIn,
  createWorkspace,
  releaseFolder,
  removeWorkspace,
  type Workspace,
  writeSmallBuild,
} from '../../support/pipeline.ts'
import { faultsOf, linksOf, rankingRow as row, tableRows, textOf } from '../../support/site.ts'

const FOLDER = 'datasets/rankings-daily/v1/releases/20261120T001200Z/'
const ROWS = [
  row('2026-11-18', 'acme/one', 150),
  row('2026-11-18', 'acme/<two>', 50),
  row('2026-11-19', 'acme/one', 7_000),
  row('2026-11-19', 'acme/new', 3_000),
]
const CHANGES: ChangeRow[] = [
  { op: 'update', date: '2026-11-18', model_permaslug: 'acme/one', tokens_before: '100', tokens_after: '150' },
  { op: 'insert', date: '2026-11-18', model_permaslug: 'acme/<two>', tokens_before: '', tokens_after: '50' },
  { op: 'delete', date: '2026-11-18', model_permaslug: 'acme/gone', tokens_before: '60', tokens_after: '' },
  { op: 'insert', date: '2026-11-19', model_permaslug: 'acme/one', tokens_before: '', tokens_after: '7000' },
  { op: 'insert', date: '2026-11-19', model_permaslug: 'acme/new', tokens_before: '', tokens_after: '3000' },
]
const QUALITY: PublicQuality = {
  dataset: 'rankings-daily',
  release: '20261120T001200Z',
  as_of: '2026-11-20T00:12:00Z',
  synthetic: false,
  records: {
    published: 12_345,
    duplicates: 7,
    left_out: 0,
    archived_date: 0,
    rejected: { invalid_timestamp: 3 },
    before_dataset_start: 0,
    not_yet_complete: 2,
    token_parts_disagree: { cached_above_prompt: 4 },
  },
  days: [],
  warnings: [{ check: 'missing_date', date: '2026-11-17', finding: 'has <no> rows' }],
}
const TOLD: ReleaseChanges = {
  previous: '20261119T001200Z',
  facts: [],
  reason: 'late_data',
  note: 'One <file> was late.',
}

function render(changes: Partial<Manifest> = {}, facts: Partial<Parameters<typeof releasePage>[1]> = {}): string {
  const manifest = manifestOf({ changes: TOLD, ...changes })
  return String(releasePage(manifest, { rows: ROWS, changes: CHANGES, quality: QUALITY, ...facts }).text)
}
const text = render()

describe('the page of a release', () => {
  it('names the release, its version, its days, its content and how to cite it', () => {
    const manifest = manifestOf()
    for (const fact of [manifest.release, '1.4.0', manifest.content_hash, manifest.attribution, '@misc{']) {
      expect(textOf(text)).toContain(fact)
    }
  })

  it('lists every other file with its size, rows and whole hash', () => {
    const { files } = manifestOf()
    const rows = tableRows(text, 'Files of this release')
    expect(rows.map(([path, , hash]) => [path, hash])).toEqual(files.map(({ path, sha256 }) => [path, sha256]))
    expect(rows[0]?.slice(3)).toEqual(['1.0 kB', '35,000'])
    expect(rows.every(([, title]) => title !== '')).toBe(true)
  })

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

  it('counts what changed against the release before, and why', () => {
    expect(textOf(text)).toContain(
      'Against release 20261119T001200Z : 3 rows new, 1 row with other tokens, 1 row gone, on 2 days. Reason: logs that came late. One <file> was late.',
    )
    expect(tableRows(text, 'Days that differ')).toEqual([
      ['2026-11-19', 'new', '2', '10K', ''],
      ['2026-11-18', 'changed', '2', '200', '+25.0 %'],
    ])
  })

  it('tells of the largest changes of days that were there before', () => {
    expect(tableRows(text, 'The largest changes')).toEqual([
      ['acme/gone', '2026-11-18', '60', ''],
      ['acme/one', '2026-11-18', '100', '150'],
      ['acme/<two>', '2026-11-18', '', '50'],
    ])
  })

  it('is content with the first release, and with one that changes no row', () => {
    expect(textOf(render({ changes: { ...TOLD, previous: null } }))).toContain('This is the first release.')
    expect(textOf(render({}, { changes: [] }))).toContain('No row differs from release 20261119T001200Z')
  })

  it('counts records by what became of them, and repeats what the checks warn of', () => {
    expect(tableRows(text, 'Records of public usage')).toEqual([
      ['counted', '12,345'],
      ['delivered again, counted once', '7'],
      ['of a day that was not over', '2'],
      ['rejected: invalid timestamp', '3'],
      ['counted, although its token counts contradict each other: cached above prompt', '4'],
    ])
    expect(textOf(text)).toContain('2026-11-17: has <no> rows')
    expect(textOf(render({}, { quality: { ...QUALITY, warnings: [] } }))).toContain('The checks found nothing unusual.')
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
