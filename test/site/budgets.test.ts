/** What a page costs before its data, compressed as hosts send it: the page, its styles and its scripts. */
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { bundleBrowser } from '../../pipeline/site/bundle.ts'
import { renderSite } from '../../pipeline/site/render.ts'
import { manyRows } from '../support/rows.ts'
import { siteFacts } from '../support/site.ts'

const KB = 1000

it.each([
  ['index.html', 60 * KB],
  ['explore.html', 120 * KB],
])('%s takes at most %i bytes with 50 models a day on 700 days', async (path, budget) => {
  const pages = renderSite(siteFacts(manyRows(700, 50)), await bundleBrowser())
  const textOf = (wanted: string) => pages.find((page) => page.path === wanted)?.text ?? ''
  const page = textOf(path)
  const loaded = [...page.matchAll(/<(?:link rel="stylesheet" href|script type="module" src)="([^"]+)"/g)]
  const files = loaded.map(([, name = '']) => textOf(name))
  expect(files.length).toBeGreaterThan(1)
  expect(files).not.toContain('')
  const bytes = [page, ...files].map((text) => gzipSync(text, { level: 6 }).length)
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(budget)
})
