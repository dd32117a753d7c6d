import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bundleBrowser, bundleEntries, LICENSES_FILE } from '../../pipeline/site/bundle.ts'
import { renderSite } from '../../pipeline/site/render.ts'
import { cachePolicy } from '../../server/published/static-answers.ts'
import { REPOSITORY, sha256 } from '../support/pipeline.ts'
import { rowsOf } from '../support/rows.ts'
import { integrityOf, loadedBy, siteFacts } from '../support/site.ts'

describe('the bundles', () => {
  test('are one file for each entry of the folder, named by the SHA-256 of its bytes so that it can be cached forever', async () => {
    const { names, pages } = await bundleBrowser()
    const entries = (await readdir(join(REPOSITORY, 'pipeline/site/browser'))).filter((name) =>
      /\.(ts|css)$/.test(name),
    )
    expect(Object.keys(names).sort()).toEqual(entries.sort())
    for (const [entry, path] of Object.entries(names)) {
      const page = pages.find((one) => one.path === path)
      const [, stem, hash, ending] = /^assets\/([\w-]+)-([0-9a-f]{8,64})\.(js|css)$/.exec(path) ?? []
      expect(entry).toBe(`${stem}.${ending === 'js' ? 'ts' : 'css'}`)
      expect(sha256(page?.text ?? '').startsWith(hash ?? 'none')).toBe(true)
      expect(cachePolicy(`/${path}`)).toContain('immutable')
    }
  })

  test('have the same bytes each time and contain no path of the machine', async () => {
    const [first, second] = [await bundleEntries(), await bundleEntries()]
    expect(second).toEqual(first)
    for (const { text } of first.pages) {
      expect(text).not.toContain(REPOSITORY)
      expect(text).not.toContain('node_modules')
    }
  })

  test('need no eval, no style element and no other host', async () => {
    const { pages } = await bundleBrowser()
    for (const { path, text } of pages.filter((page) => page.path !== LICENSES_FILE)) {
      const addresses = text.match(/https?:\/\/[^"'`\s)]+/g) ?? []
      expect(
        addresses.filter((address) => address !== 'http://www.w3.org/2000/svg'),
        path,
      ).toEqual([])
      expect(text, path).not.toMatch(/\beval\(|new Function\(|createElement\(["'`]style|setAttribute\(["'`]style|\/\/#/)
    }
  })

  test('come with the licenses of all libraries in them', async () => {
    const { pages } = await bundleBrowser()
    const text = pages.find(({ path }) => path === LICENSES_FILE)?.text ?? ''
    for (const name of ['hyparquet', 'fzstd', 'd3-scale', 'd3-shape', 'd3-array', 'd3-interpolate'])
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC)\\)$`, 'm'))
    expect(text.match(/Permission (is hereby granted|to use, copy, modify)/g)?.length).toBeGreaterThanOrEqual(6)
  })
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
