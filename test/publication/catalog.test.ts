/** What stands at the top of the public folder: catalogue, feeds, the API's default answers, files for crawlers. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Catalog } from '../../pipeline/contract/catalog.ts'
import { RankingResponse } from '../../pipeline/contract/ranking.ts'
import { dueDates } from '../../pipeline/site/catalog.ts'
import { renderFeeds } from '../../pipeline/site/feeds.ts'
import { readIndex } from '../support/history.ts'
import { PUBLISHER } from '../support/manifest.ts'
import {
  buildIn,
  createWorkspace,
  newWorkspace,
  REPOSITORY,
  readLatest,
  removeWorkspace,
  sha256,
  snapshotTree,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'

async function deliver(to: Workspace, tokens: number): Promise<void> {
  const records = ['2025-01-20', '2025-02-07', '2025-02-08', '2025-03-09'].map((date) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: 'a<b>',
    prompt_tokens: String(tokens),
  }))
  await writeSmallBuild(to, { sources: [{ records }] })
}

/** Of two releases, which tests read. */
let workspace: Workspace

beforeAll(async () => {
  workspace = await createWorkspace()
  await deliver(workspace, 1)
  await buildIn(workspace, '2025-03-10T10:00:00Z')
  await deliver(workspace, 2)
  const told = { reason: 'correction', note: 'Twice <as> much & more.' } as const
  await buildIn(workspace, '2025-03-10T11:00:00Z', {}, told)
})

afterAll(() => removeWorkspace(workspace))

async function copied(): Promise<Workspace> {
  const copy = await newWorkspace()
  await cp(workspace.root, copy.root, { recursive: true, verbatimSymlinks: true })
  return copy
}

function file({ publicDir }: Workspace, path: string): Promise<string> {
  return readFile(join(publicDir, path), 'utf8')
}

describe('catalog.json', () => {
  it('leads to the newest release, its files and all that is beside it', async () => {
    const { datasets, api } = Catalog.parse(JSON.parse(await file(workspace, 'catalog.json')))
    const latest = await readLatest(workspace)
    const folder = `datasets/rankings-daily/v1/${latest.path}`
    expect(datasets[0]).toMatchObject({ latest: { ...latest, path: folder, data_version: '2.0.0' } })
    for (const { path, bytes, sha256: sum } of [...(datasets[0]?.files ?? []), ...Object.values(api)]) {
      const content = await readFile(join(workspace.publicDir, path))
      expect({ bytes: content.length, sum: sha256(content) }, path).toEqual({ bytes, sum })
    }
    const { day = '', month_revision = '' } = datasets[0]?.paths ?? {}
    expect(await file(workspace, day.replace('{date}', '2025-03-09').replace(/\{json.*\}/, 'csv'))).toContain(',2\n')
    const monthly = month_revision.replace('{month}', '2025-02').replace('{revision}', '2')
    expect(await file(workspace, monthly.replace(/\{csv.*\}/, 'csv'))).toContain('2025-02-07,a<b>,2\n')
  })

  it('says when to look again: an hour after the next day is complete, and a day later', () => {
    const due = { next_expected: '2025-03-11T01:00:00Z', stale_after: '2025-03-12T01:00:00Z' }
    expect(dueDates('2025-03-10T00:12:00Z')).toEqual(due)
    expect(dueDates('2025-03-10T23:59:59Z')).toEqual(due)
    expect(dueDates('2025-12-31T00:00:00Z').stale_after).toBe('2026-01-02T01:00:00Z')
  })
})

describe('the answers of the API as files', () => {
  it('are the ranking of the 31 days to the last complete one at as_of', async () => {
    const { data, meta } = RankingResponse.parse(
      JSON.parse(await file(workspace, 'api/v1/datasets/rankings-daily.json')),
    )
    expect(meta).toEqual({
      as_of: '2025-03-10T11:00:00Z',
      start_date: '2025-02-07',
      end_date: '2025-03-09',
      version: 'v1',
    })
    expect(data.map(({ date }) => date)).toEqual(['2025-02-07', '2025-02-08', '2025-03-09'])
  })

  it('are the embeddings models of the project, newest first, until the data folder has its own', async () => {
    const shipped: { id: string; created: number }[] = JSON.parse(
      await readFile(join(REPOSITORY, 'data/embeddings-models.json'), 'utf8'),
    )
    const published = JSON.parse(await file(workspace, 'api/v1/embeddings/models.json'))
    expect(published).toMatchObject({ links: { next: null }, total_count: shipped.length })
    const created = published.data.map((model: { created: number }) => model.created)
    expect(created).toEqual(created.toSorted((a: number, b: number) => b - a))
    expect(published.data).toEqual(expect.arrayContaining(shipped))

    const copy = await copied()
    const own = [
      { name: 'Old', id: 'b', created: 1 },
      { name: 'New', id: 'z', created: 2 },
      { name: 'As old', id: 'a', created: 1 },
    ]
    await writeFile(join(copy.dataDir, 'embeddings-models.json'), JSON.stringify(own))
    expect((await buildIn(copy, '2025-03-10T12:00:00Z')).outcome).toBe('unchanged')
    expect(await file(copy, 'api/v1/embeddings/models.json')).toBe(
      '{"data":[{"name":"New","id":"z","created":2},{"name":"As old","id":"a","created":1},' +
        '{"name":"Old","id":"b","created":1}],"links":{"next":null},"total_count":3}',
    )
    await writeFile(join(copy.dataDir, 'embeddings-models.json'), '[{"id":"a"}]')
    await expect(buildIn(copy, '2025-03-10T13:00:00Z')).rejects.toThrow(/embeddings-models\.json: \[0\]/)
  })
})

describe('the feeds', () => {
  let atom: string
  let json: { version: string; items: { id: string; tags: string[]; date_published: string; content_text: string }[] }

  beforeAll(async () => {
    atom = await file(workspace, 'feed.atom')
    json = JSON.parse(await file(workspace, 'feed.json'))
  })

  it('tell of releases and restatements, newest first, with ids and dates that never change', () => {
    expect(json.version).toBe('https://jsonfeed.org/version/1.1')
    expect(json.items.map(({ id, tags, date_published }) => ({ id, tags, date_published }))).toEqual([
      {
        id: 'tag:tokens.test-gateway.example,2025-01-01:datasets/rankings-daily/v1/20250310T110000Z/restatement',
        tags: ['restatement'],
        date_published: '2025-03-10T11:00:00Z',
      },
      {
        id: 'tag:tokens.test-gateway.example,2025-01-01:datasets/rankings-daily/v1/20250310T110000Z',
        tags: ['release'],
        date_published: '2025-03-10T11:00:00Z',
      },
      {
        id: 'tag:tokens.test-gateway.example,2025-01-01:datasets/rankings-daily/v1/20250310T100000Z',
        tags: ['release'],
        date_published: '2025-03-10T10:00:00Z',
      },
    ])
    expect(json.items[0]?.content_text).toContain('Reason: correction. Twice <as> much & more.')
  })

  it('say the same as Atom, where nothing of a text is taken for markup', () => {
    const ids = [...atom.matchAll(/<id>([^<]*)<\/id>/g)].map((match) => match[1])
    expect(ids.slice(1)).toEqual(json.items.map(({ id }) => id))
    expect(atom).toContain('Twice &lt;as&gt; much &amp; more.')
    expect(atom).toContain('<updated>2025-03-10T11:00:00Z</updated>')
    expect(atom).toContain('<category term="restatement"/>')
  })

  it('tell of another form of the data, another publisher and a withdrawal', async () => {
    const { releases, dataset } = await readIndex(workspace)
    const [first, second] = releases
    if (first === undefined || second === undefined) throw new Error('there are two releases')
    const publisher = { name: 'P', url: 'https://p.example', contact: 'c', title: 'T', description: 'D' }
    const changed = [
      { ...first, changed: ['schema', 'publisher'] },
      {
        ...second,
        changed: ['schema', 'publisher'],
        status: 'withdrawn' as const,
        withdrawal: { withdrawn_at: '2025-03-11T00:00:00Z', reason: 'It named a customer.' },
      },
    ]
    const [, feed] = renderFeeds({ publisher, synthetic: false }, { dataset, releases: changed }, [])
    const items: { tags: string[]; content_text: string }[] = JSON.parse(feed?.text ?? '').items
    expect(items.map(({ tags }) => tags[0])).toEqual(['notice', 'notice', 'schema', 'release', 'release'])
    expect(items[0]?.content_text).toBe('Do not use this release any more. Reason: It named a customer.')
    expect(items[1]?.content_text).toMatch(/publisher/)
  })

  it('are well-formed XML where the name of the publisher has control characters', async () => {
    const publisher = { ...PUBLISHER, name: 'Us\u0001 & \u007fthem' }
    const [feedAtom] = renderFeeds({ publisher, synthetic: false }, await readIndex(workspace), [])
    expect(feedAtom?.text).toContain('<author><name>Us &amp; them</name></author>')
  })

  it('say of a sample that it is one', async () => {
    const index = await readIndex(workspace)
    const [feedAtom, feedJson] = renderFeeds({ publisher: PUBLISHER, synthetic: true }, index, [])
    const title = `${PUBLISHER.title} (synthetic sample)`
    expect(feedAtom?.text).toContain(`<title>${title}</title>`)
    expect(JSON.parse(feedJson?.text ?? '')).toMatchObject({ title })
  })
})

describe('files for crawlers', () => {
  it('lead to what is published below the address of the publisher', async () => {
    expect(await file(workspace, 'robots.txt')).toContain(
      'Sitemap: https://tokens.test-gateway.example/tokenboard/sitemap.xml\n',
    )
    const locations = [
      ...(await file(workspace, 'sitemap.xml')).matchAll(
        /<loc>https:\/\/tokens\.test-gateway\.example\/tokenboard\/([^<]*)</g,
      ),
    ]
    const links = [
      ...(await file(workspace, 'llms.txt')).matchAll(
        /\(https:\/\/tokens\.test-gateway\.example\/tokenboard\/([^)]+)\)/g,
      ),
    ]
    expect(locations.length).toBeGreaterThan(3)
    expect(links.length).toBeGreaterThan(6)
    const tree = await snapshotTree(workspace.publicDir)
    const release = (await readLatest(workspace)).path
    for (const [, path = ''] of [...locations, ...links]) {
      expect(tree, path).toHaveProperty([path === '' ? 'index.html' : path.replace('latest/', release)])
    }
  })
})
