import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundleBrowser, bundleEntries, LICENSES_FILE } from '../../pipeline/site/bundle.ts'
import { renderSite } from '../../pipeline/site/render.ts'
import { cachePolicy } from '../../server/published/static-answers.ts'
import { REPOSITORY, sha256 } from '../support/pipeline.ts'
import { manyRows, rowsOf } from '../support/rows.ts'
import { integrityOf, loadedBy, siteFacts } from '../support/site.ts'

const KB = 1000

test('bundles are one file for each entry of the folder, named by the SHA-256 of its bytes to be cached forever', async () => {
  const { names, pages } = await bundleBrowser()
  const entries = await readdir(join(REPOSITORY, 'pipeline/site/browser'))
  expect(Object.keys(names).sort()).toEqual(entries.filter((name) => /\.(ts|css)$/.test(name)).sort())
  for (const [entry, path] of Object.entries(names)) {
    const page = pages.find((one) => one.path === path)
    const [, stem, hash, ending] = /^assets\/([\w-]+)-([0-9a-f]{8,64})\.(js|css)$/.exec(path) ?? []
    expect(entry).toBe(`${stem}.${ending === 'js' ? 'ts' : 'css'}`)
    expect(sha256(page?.text ?? '').startsWith(hash ?? 'none')).toBe(true)
    expect(cachePolicy(`/${path}`)).toContain('immutable')
  }
})

test('bundles are the same bytes each time, without a path of the machine, eval, a style element or another host', async () => {
  const [first, second] = [await bundleEntries(), await bundleEntries()]
  expect(second).toEqual(first)
  for (const { path, text } of first.pages) {
    expect(text).not.toContain(REPOSITORY)
    expect(text).not.toContain('node_modules')
    if (path === LICENSES_FILE) continue
    const addresses = text.match(/https?:\/\/[^"'`\s)]+/g) ?? []
    const remote = addresses.filter((address) => address !== 'http://www.w3.org/2000/svg')
    expect(remote, path).toEqual([])
    expect(text, path).not.toMatch(/\beval\(|new Function\(|createElement\(["'`]style|setAttribute\(["'`]style|\/\/#/)
  }
})

test('bundles come with the licenses of all libraries in them', async () => {
  const { pages } = await bundleBrowser()
  const text = pages.find(({ path }) => path === LICENSES_FILE)?.text ?? ''
  for (const name of ['hyparquet', 'fzstd', 'd3-scale', 'd3-shape', 'd3-array', 'd3-interpolate'])
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC)\\)$`, 'm'))
  expect(text.match(/Permission (is hereby granted|to use, copy, modify)/g)?.length).toBeGreaterThanOrEqual(6)
})

test('pages load every script and hashed stylesheet with the integrity of its bytes', async () => {
  const models = Array.from({ length: 601 }, (_, model): [string, number] => [`acme/model-${model}`, 1000 - model])
  const pages = renderSite(siteFacts(rowsOf([['2026-11-19', Object.fromEntries(models)]])), await bundleBrowser())
  const textOf = new Map(pages.map(({ path, text }) => [path, text]))
  const loading = new Set<string>()
  for (const page of pages.filter(({ path }) => path.endsWith('.html'))) {
    for (const [path, integrity] of loadedBy(page)) {
      // Pages of releases never change, and this file does.
      if (path === 'assets/site.css') continue
      expect(integrity, `${page.path} loads ${path}`).toBe(integrityOf(textOf.get(path) ?? ''))
      loading.add(page.path)
    }
  }
  expect([...loading]).toEqual(['index.html', 'explore.html', 'models.html', 'more-models/2.html', 'embed.html'])
})

test.each([
  ['index.html', 60 * KB],
  ['explore.html', 120 * KB],
])(
  '%s with its styles and scripts takes at most %i bytes, compressed, with 50 models a day on 700 days',
  async (path, budget) => {
    const pages = renderSite(siteFacts(manyRows(700, 50)), await bundleBrowser())
    const textOf = (wanted: string) => pages.find((page) => page.path === wanted)?.text ?? ''
    const loaded = loadedBy({ path, text: textOf(path) }).map(([file]) => textOf(file))
    expect(loaded.length).toBeGreaterThan(1)
    expect(loaded).not.toContain('')
    const bytes = [textOf(path), ...loaded].map((text) => gzipSync(text, { level: 6 }).length)
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(budget)
  },
)
