/** Pages for people where nothing is, as a build publishes them and the server completes them. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { DATASET_PATH, releasePath } from '../../pipeline/contract/manifest.ts'
import { DATA_FILES } from '../../pipeline/contract/release-files.ts'
import { testApp } from '../support/app.ts'
import { createWorkspace, type Workspace, withdrawIn } from '../support/pipeline.ts'
import { release } from '../support/releases.ts'
import { faultsOf, textOf } from '../support/site.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const FIRST = '20250310T100000Z'
const WITHDRAWN = '20250310T110000Z'

let workspace: Workspace

beforeAll(async () => {
  workspace = await createWorkspace()
  await release(workspace, [['2025-03-08', 5, 'acme/model-one:free']], '2025-03-10T10:00:00Z')
  await release(workspace, [['2025-03-08', 6, 'acme/model-one:free']], '2025-03-10T11:00:00Z')
  await release(workspace, [['2025-03-08', 7, 'acme/model-one:free']], '2025-03-10T12:00:00Z')
  await withdrawIn(workspace, WITHDRAWN, '2025-03-10T13:00:00Z', {}, { reason: 'It named a <customer>.' })
  return () => rm(workspace.root, { recursive: true })
})

/** A server of what is published, asked as browsers do. */
async function server() {
  const { app } = await testApp({ publicDir: workspace.publicDir })
  return (url: string) => app.inject({ method: 'GET', url, headers: BROWSER })
}

/** The local links of an answer, as paths of the server. */
function targetsOf({ body }: { body: string }, url: string): string[] {
  const links = Array.from(body.matchAll(/(?:href|src|action)="([^"#]+)"/g), ([, link = '']) => link)
  const site = 'http://server.example'
  return links
    .map((link) => new URL(link, site + url))
    .flatMap(({ origin, pathname }) => (origin === site ? pathname : []))
}

it.each([
  ['/acme/model-on:free', 'Did you mean acme/model-one:free ?'],
  ['/models/acme/model-one.html', 'Did you mean acme/model-one:free ?'],
  ['/something/quite/different/from/all/models/that/there/are.html', 'There is no page or file at this address.'],
])('the page for %s says “%s”, and its links lead somewhere', async (url, words) => {
  const get = await server()
  const answer = await get(url)
  expect(answer.statusCode).toBe(404)
  expect(textOf(answer.body)).toContain(words)
  for (const target of targetsOf(answer, url)) expect([(await get(target)).statusCode, target]).toEqual([200, target])
})

it('the page of a withdrawn release has the reason and what to use instead, and its links lead somewhere', async () => {
  const url = `/${releasePath(WITHDRAWN)}/`
  const get = await server()
  const answer = await get(url)
  expect(answer.statusCode).toBe(410)
  expect(textOf(answer.body)).toContain('Reason It named a <customer>.')
  expect(textOf(answer.body)).toContain('Use release 20250310T120000Z , which is the current release.')
  expect(faultsOf(answer.body)).toEqual([])
  for (const target of targetsOf(answer, url)) expect([(await get(target)).statusCode, target]).toEqual([200, target])
})

it('the folder of the dataset has a page whose links lead somewhere', async () => {
  const get = await server()
  const answer = await get(`/${DATASET_PATH}/`)
  expect(answer.statusCode).toBe(200)
  const targets = targetsOf(answer, `/${DATASET_PATH}/`)
  expect(targets).toContain(`/${DATASET_PATH}/daily/2025-03-08.json`)
  for (const target of targets) {
    const isGone = target.startsWith(`/${releasePath(WITHDRAWN)}/`)
    expect([(await get(target)).statusCode, target]).toEqual([isGone ? 410 : 200, target])
  }
})

it('the page for a file of a dropped release has the look of the others', async () => {
  const folder = releasePath(FIRST)
  for (const name of DATA_FILES) await rm(join(workspace.publicDir, folder, name))
  const url = `/${folder}/rankings-daily.csv`
  const get = await server()
  const answer = await get(url)
  expect(answer.statusCode).toBe(410)
  expect(answer.body).toContain(`<title>Release ${FIRST} was dropped</title>`)
  expect(answer.body).not.toContain('Not found')
  for (const target of targetsOf(answer, url)) expect([(await get(target)).statusCode, target]).toEqual([200, target])
})
