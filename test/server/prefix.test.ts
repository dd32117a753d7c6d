/** Links behind a proxy that has the server below a path: nginx with `location /tokens/ { proxy_pass http://…/; }`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { embeddingsCatalogue } from '../../server/store/embeddings-models.ts'
import { testApp } from '../support/app.ts'
import { someModels } from '../support/embeddings-models.ts'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'
import { drop, writeIndex } from '../support/release-index.ts'

const PREFIX = '/tokens'
const BROWSER = { accept: 'text/html' }
const FRAME =
  '<head><title>-</title>\n<link rel="stylesheet" href="/assets/site.css">\n</head><main>\n<!-- nearest -->\n</main>'

/** Asks as a client of the proxy would. */
async function proxied() {
  const { app, authorized, publicDir, store } = await testApp({ prefix: PREFIX })
  await embeddingsCatalogue(store).replaceAll(someModels(3))
  const dropped = await publish(publicDir, sampleRows({ days: 2 }), { asOf: '2025-02-09T00:12:00Z' })
  await publish(publicDir, sampleRows({ days: 3 }))
  await drop(publicDir, dropped)
  await writeIndex(publicDir)
  await writeFile(join(publicDir, FOLDER, 'history.parquet'), 'PAR1')
  await writeFile(join(publicDir, '404.html'), FRAME)
  await app.releases.check()
  const get = (url: string, headers: Record<string, string> = authorized) => {
    expect(url.startsWith(`${PREFIX}/`), url).toBe(true)
    return app.inject({ url: url.slice(PREFIX.length), headers })
  }
  return { get, dropped }
}

test('links of answers lead on', async () => {
  const { get } = await proxied()
  const models = (await get(`${PREFIX}/api/v1/embeddings/models?limit=1`)).json()
  const ranking = (await get(`${PREFIX}/api/v1/datasets/rankings-daily?limit=1&start_date=2025-01-01`)).json()
  const { data } = (await get(`${PREFIX}/api/v1/datasets/rankings-daily/info`)).json()
  const catalog = (await get(`${PREFIX}/.well-known/api-catalog`)).json()
  const { anchor, ...relations } = catalog.linkset[0]
  const hrefs = Object.values<{ href: string }[]>(relations).map(([link]) => link?.href ?? '')
  expect(anchor).toBe(`${PREFIX}/api/v1`)
  expect((await get(`${PREFIX}/openapi.json`)).json().servers).toEqual([{ url: anchor }])
  const links = [models.links.next, models.data[0].links.details, ranking.links.next, data.links.info, data.links.rows]
  const files = [data.releases.url, ...data.tables[0].files.map(({ url }: { url: string }) => url)]
  for (const url of [...links, ...files, ...hrefs]) expect([url, (await get(url)).statusCode]).toEqual([url, 200])
})

test('links of pages lead on, and redirects stay below the path', async () => {
  const { get, dropped } = await proxied()
  const docs = await get(`${PREFIX}/docs`)
  expect(docs.body).toContain('href="openapi.json"')
  expect(new URL(String((await get(`${PREFIX}/docs/`)).headers.location), `http://a${PREFIX}/docs/`).pathname).toBe(
    `${PREFIX}/docs`,
  )
  const folder = `${PREFIX}/datasets/rankings-daily/v1/releases`
  const pages = [await get(`${PREFIX}/nothing`, BROWSER), await get(`${folder}/${dropped}/rankings-daily.csv`, BROWSER)]
  expect(pages.map(({ statusCode }) => statusCode)).toEqual([404, 410])
  for (const { body } of pages) expect(body).toContain(`href="${PREFIX}/assets/site.css"`)
})
