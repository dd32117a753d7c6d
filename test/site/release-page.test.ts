import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { HISTORY_PATHS } from '../../pipeline/contract/published-paths.ts'
import { changeBars } from '../../pipeline/site/release-changes.ts'
import { releaseChart, releasePage } from '../../pipeline/site/release-page.ts'
import { manifestOf } from '../support/manifest.ts'
import { datasetFolder, publish } from '../support/pipeline.ts'
import { linksOf, textOf } from '../support/site.ts'
import { CHANGES, QUALITY, ROWS, TOLD } from './release-facts.ts'

const FOLDER = 'datasets/rankings-daily/v1/releases/20261120T001200Z/'
function render(changes: Partial<Manifest> = {}, facts: Partial<Parameters<typeof releasePage>[1]> = {}): string {
  const manifest = manifestOf({ changes: TOLD, ...changes })
  return String(releasePage(manifest, { rows: ROWS, changes: CHANGES, quality: QUALITY, ...facts }).text)
}
const text = render()

describe('the page of a release', () => {
  it('links to its own files, the history and the site, but to no other release and not to latest/', () => {
    const links = linksOf({ path: `${FOLDER}index.html`, text })
    const files = ['rankings-daily.csv', 'chart.svg', 'SHA256SUMS'].map((file) => FOLDER + file)
    const site = ['index.html', 'changelog.html', 'assets/site.css']
    expect(links).toEqual(expect.arrayContaining([...files, ...site]))
    expect(links.filter((link) => link.startsWith('datasets/') && !link.startsWith(FOLDER))).toEqual([
      HISTORY_PATHS.parquet,
    ])
  })

  it.each([
    ['the first release', { changes: { ...TOLD, previous: null } }, {}, 'This is the first release.'],
    ['weeks and months that changed with days', {}, {}, 'Of the weeks, 1 row differs; of the months, 2 rows .'],
    ['weeks that changed alone', {}, { changes: { ...CHANGES, daily: [] } }, 'No row of a day differs from release 2'],
    [
      'a release without a changed row',
      {},
      { changes: { daily: [], weekly: [] } },
      'No row differs from release 20261119T001200Z',
    ],
    ['synthetic data', { synthetic: true }, {}, 'SYNTHETIC SAMPLE DATA'],
  ])('names %s', (_, changes, facts, words) => expect(textOf(render(changes, facts))).toContain(words))

  it('says nothing that a later release makes wrong', () => {
    expect(textOf(text)).not.toMatch(/\bcurrent\b|latest (version|release) is|newest release is/i)
    expect(text).not.toContain('aria-current')
  })

  it('links to files that a build has published', async () => {
    const { workspace, summary } = await publish([{ model_permaslug: 'acme/one', prompt_tokens: '5' }])
    const path = `${datasetFolder(workspace).slice(workspace.publicDir.length + 1)}/releases/${summary.release}/index.html`
    const page = await readFile(join(workspace.publicDir, path), 'utf8')
    const links = linksOf({ path, text: page }).filter((link) => link !== '')
    expect(links.filter((link) => link.startsWith('datasets/')).length).toBeGreaterThan(10)
    for (const link of links) await readFile(join(workspace.publicDir, link))
  })
})

it('chart.svg is a drawing of its own in which names are escaped', () => {
  const { path, text: svg } = releaseChart(ROWS)
  expect(path).toBe('chart.svg')
  expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"')
  expect(svg).toContain('acme/&lt;two&gt;')
})

it('changes of percent are drawn to both sides of the middle, the largest to an end, and none of new dates', () => {
  const changes = [
    { before: 100n, after: 150n },
    { before: 10n ** 18n, after: 8n * 10n ** 17n },
    { before: 100n, after: 100n },
    { before: 0n, after: 5n },
  ]
  const barOf = changeBars(changes)
  const widths = changes.map((change) => /d="M0,1h(\S+?)v8H0z"/.exec(barOf(change).text)?.[1])
  expect(widths).toEqual(['50', '-20', '0', undefined])
})
