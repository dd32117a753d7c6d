/** What stands at the top of the public folder, where the case catalog-and-feeds does not show it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Catalog } from '../../pipeline/contract/catalog.ts'
import { dueDates } from '../../pipeline/site/catalog.ts'
import { renderCrawlerFiles } from '../../pipeline/site/crawlers.ts'
import { renderFeeds } from '../../pipeline/site/feeds.ts'
import { PUBLISHER } from '../support/manifest.ts'
import { newWorkspace, readLatest, sha256, snapshotTree } from '../support/pipeline.ts'
import { release } from '../support/releases.ts'
import { indexOf, releaseEntry, siteFacts } from '../support/site.ts'

it('the top of the public folder lists files with their true hashes, and gives crawlers and feeds only what is published', async () => {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-02-07', 1], ['2025-03-09', 1, 'acme/one']], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  const file = (path: string) => readFile(join(workspace.publicDir, path), 'utf8')
  const { datasets, api } = Catalog.parse(JSON.parse(await file('catalog.json')))
  const files = [...(datasets[0]?.files ?? []), ...Object.values(api)]
  expect(files.length).toBeGreaterThan(10)
  for (const { path, bytes, sha256: sum } of files) {
    const content = await readFile(join(workspace.publicDir, path))
    expect({ bytes: content.length, sum: sha256(content) }, path).toEqual({ bytes, sum })
  }
  const text = (await file('sitemap.xml')) + (await file('llms.txt'))
  const site = 'https://tokens.test-gateway.example/tokenboard/'
  const paths = [...text.matchAll(new RegExp(`[>(]${site}([^<)]*)`, 'g'))].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(12)
  const tree = await snapshotTree(workspace.publicDir)
  const current = (await readLatest(workspace)).path
  for (const path of paths) {
    expect(tree, path).toHaveProperty([path.replace('latest/', current).replace(/(^|\/)$/, '$1index.html')])
  }
  const page = `datasets/rankings-daily/v1/${current}`
  expect(paths).toContain(page)
  const { items } = JSON.parse(await file('feed.json'))
  expect(items.map(({ url }: { url: string }) => url)).toEqual([site + page])
})

it('expects the next release an hour after the next day is complete, and calls this one stale a day later', () => {
  const due = { next_expected: '2025-03-11T01:00:00Z', stale_after: '2025-03-12T01:00:00Z' }
  expect(dueDates('2025-03-10T00:12:00Z')).toEqual(due)
  expect(dueDates('2025-03-10T23:59:59Z')).toEqual(due)
  expect(dueDates('2025-12-31T00:00:00Z').stale_after).toBe('2026-01-02T01:00:00Z')
})

it('lists pages of releases that stand in the sitemap, newest first, with the time of each', () => {
  const [first, second, third] = ['2025-03-07', '2025-03-08', '2025-03-09'].map((date) => releaseEntry(date))
  if (!first || !second || !third) throw new Error('three entries')
  const index = indexOf([first, { ...second, status: 'withdrawn' }, third])
  const [, sitemap] = renderCrawlerFiles(siteFacts([], { index }), [])
  const listed = [...(sitemap?.text ?? '').matchAll(/releases\/(\w+)\/<\/loc><lastmod>([^<]+)/g)]
  expect(listed.map(([, release, at]) => [release, at])).toEqual(
    [third, first].map((each) => [each.release, each.as_of]),
  )
})

describe('feeds', () => {
  const [first, second] = [releaseEntry('2025-03-08'), releaseEntry('2025-03-09')]

  it('announce a changed schema, another publisher and a withdrawal', () => {
    const changed = [
      { ...first, changed: ['schema', 'publisher'] },
      {
        ...second,
        changed: ['schema', 'publisher'],
        status: 'withdrawn' as const,
        withdrawal: { withdrawn_at: '2025-03-11T00:00:00Z', reason: 'It named a customer.' },
      },
    ]
    const [, feed] = renderFeeds({ publisher: PUBLISHER, synthetic: false }, indexOf(changed), [])
    const items: { tags: string[]; content_text: string; url: string }[] = JSON.parse(feed?.text ?? '').items
    expect(items.map(({ tags }) => tags[0])).toEqual(['notice', 'notice', 'schema', 'release', 'release'])
    expect(items[0]?.content_text).toBe('Do not use this release any more. Reason: It named a customer.')
    expect(items[1]?.content_text).toMatch(/publisher/)
    const page = (path: string) => expect.stringMatching(new RegExp(`/${path}$`))
    const releases = [second, second, second, second, first].map(({ release }) => page(`releases/${release}/`))
    expect(items.map(({ url }) => url)).toEqual(releases)
  })

  it('stay well-formed XML when the name of the publisher has control characters', () => {
    const publisher = { ...PUBLISHER, name: 'Us\u0001 & \u007fthem' }
    const [atom] = renderFeeds({ publisher, synthetic: false }, indexOf([first]), [])
    expect(atom?.text).toContain('<author><name>Us &amp; them</name></author>')
  })

  it('say "synthetic sample" in their title when the data are synthetic', () => {
    const [atom, json] = renderFeeds({ publisher: PUBLISHER, synthetic: true }, indexOf([first]), [])
    const title = `${PUBLISHER.title} (synthetic sample)`
    expect(atom?.text).toContain(`<title>${title}</title>`)
    expect(JSON.parse(json?.text ?? '')).toMatchObject({ title })
  })
})
