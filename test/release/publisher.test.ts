/** A release of real logs names its publisher. Only the sample may be published under the placeholder. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../pipeline/base/errors.ts'
import type { Publisher } from '../../pipeline/contract/manifest.ts'
import { publisherProblem, readPublisher } from '../../pipeline/release/publisher.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { temporaryFolder } from '../support/folder.ts'
import {
  buildIn,
  crowd,
  newWorkspace,
  REPOSITORY,
  releaseFolder,
  runCli,
  settings,
  snapshotTree,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER, writePublisher } from '../support/publisher.ts'

const PLACEHOLDER: Publisher = JSON.parse(await readFile(join(REPOSITORY, 'data/publisher.json'), 'utf8'))

/** A data folder with this publisher, or with this text as its `publisher.json`. */
async function folderWith(publisher: Publisher | string): Promise<string> {
  const folder = await temporaryFolder()
  if (typeof publisher === 'string') await writeFile(join(folder, 'publisher.json'), publisher)
  else await writePublisher(folder, publisher)
  return folder
}

/** Why the publisher in a data folder is refused for real logs. */
async function refusalIn(folder: string): Promise<string> {
  const error: unknown = await readPublisher(folder, false).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(CliError)
  return error instanceof Error ? error.message : ''
}

/** The JSON object at the end of a message: what the maintainer has to write. */
function linesToWrite(message: string): object {
  return JSON.parse(message.slice(message.indexOf('\n{')))
}

describe('a release of real logs', () => {
  const url = 'url is "https://example.org/tokenboard"'
  it.each([
    ['the placeholder of the sample', {}, [url, 'contact is "data@example.org"']],
    ['the placeholder with another name', { name: 'Acme' }, ['url is', 'contact is']],
    ['the contact of the placeholder', { url: TEST_PUBLISHER.url }, ['contact is "data@example.org"']],
    ['the URL of the placeholder', { contact: 'me@acme.example' }, [url]],
    ['a host below its', { url: 'http://Data.Example.ORG:8080/x', contact: 'c' }, ['url is "http://Data.Example.ORG:8080/x"']],
    ['a mail address below its', { url: TEST_PUBLISHER.url, contact: 'a@mail.Example.org' }, ['contact is "a@mail.Example.org"']],
    ['a page of it', { url: TEST_PUBLISHER.url, contact: 'https://example.org./us' }, ['contact is "https://example.org./us"']],
  ])('is refused under %s', async (_, changes, problems) => {
    const folder = await folderWith({ ...PLACEHOLDER, ...changes })
    const message = await refusalIn(folder)
    expect(message).toContain(join(folder, 'publisher.json'))
    for (const problem of problems) expect(message).toContain(problem)
    for (const field of ['url', 'contact'].filter((name) => !problems.join().includes(`${name} is`)))
      expect(message).not.toContain(`${field} is`)
  }) // biome-ignore format: one line a publisher

  it.each([
    ['a host that only ends like it', { url: 'https://myexample.org/', contact: 'data@notexample.org' }],
    ['words that mention it', { url: 'https://acme.example/example.org', contact: 'not data@example.org, but us' }],
    ['example.com', { url: 'https://example.com/', contact: 'data@example.com' }],
  ])('is accepted under %s', async (_, changes) => {
    const publisher = { ...PLACEHOLDER, ...changes }
    expect(await readPublisher(await folderWith(publisher), false)).toEqual(publisher)
  })

  it('is refused with the lines to write, which contain what is right and are refused unless they are filled in', async () => {
    const changed = { ...PLACEHOLDER, title: 'Tokens of Acme', contact: 'data@acme.example' }
    const lines = linesToWrite(await refusalIn(await folderWith(changed)))
    expect(lines).toMatchObject({ title: 'Tokens of Acme', contact: 'data@acme.example' })
    expect(Object.keys(lines)).toEqual(['name', 'url', 'contact', 'title', 'description'])
    expect(await refusalIn(await folderWith(JSON.stringify(lines)))).toMatch(/publisher\.json:\d+: url: /)
  })

  it('is refused with the unchanged lines of docs/publishing.md', async () => {
    const page = await readFile(join(REPOSITORY, 'docs/publishing.md'), 'utf8')
    const [, lines = ''] = /```json\n([^`]*"contact"[^`]*)```/.exec(page) ?? []
    expect(await refusalIn(await folderWith(lines))).toMatch(/publisher\.json:\d+: url: /)
  })

  it('is refused without a publisher.json in DATA_DIR, whatever the one of the project contains', async () => {
    const folder = await temporaryFolder()
    const message = await refusalIn(folder)
    expect(message).toContain(`there is no ${join(folder, 'publisher.json')}`)
    expect(Object.keys(linesToWrite(message))).toHaveLength(5)
  })
})

it('a folder gets releases of several publishers but none under the placeholder, under which other commands work', async () => {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: crowd(3, () => 5) }] })
  await buildIn(workspace)
  const first = await releaseFolder(workspace)
  await writePublisher(workspace.dataDir, { ...TEST_PUBLISHER, name: 'Acme' })
  expect(await buildIn(workspace, '2025-03-10T12:30:00Z')).toMatchObject({ outcome: 'released' })
  expect((await readManifest(first)).publisher.name).toBe(TEST_PUBLISHER.name)
  expect((await readManifest(await releaseFolder(workspace))).publisher.name).toBe('Acme')
  await writePublisher(workspace.dataDir, PLACEHOLDER)
  const before = await snapshotTree(workspace.publicDir)
  for (const [words, expected] of [
    [['build'], 2],
    [['build', '--dry-run'], 2],
    [['verify'], 0],
    [['reproduce'], 0],
    [['archive', '--before', '2025-03-03'], 0],
    [['withdraw', '20250310T120000Z', '--reason', 'It was wrong.', '--dry-run'], 0],
  ] as [string[], number][]) {
    const { code, stderr } = await runCli(words, settings(workspace, '2025-03-10T15:00:00Z'))
    expect(code, stderr).toBe(expected)
    if (expected === 2) expect(stderr).toContain('publisher.json: url is "https://example.org/tokenboard"')
  }
  expect(await snapshotTree(workspace.publicDir)).toEqual(before)
})

describe('a publisher that init asks for', () => {
  it.each([
    ['name', '', 'is empty'],
    ['url', 'foo', 'with its https://'],
    ['url', 'tokens.acme.example', 'with its https://'],
    ['url', 'https://example.org/us', 'is the placeholder'],
    ['contact', 'nobody', 'must be an address for mail'],
    ['contact', 'acme.example/us', 'or a whole URL of a page with its https://'],
    ['contact', 'acme.example:8080', 'must be an address for mail'],
    ['contact', '', 'must be an address for mail'],
  ] as const)('is refused with the %s %j', (field, value, problem) => {
    expect(publisherProblem({ ...TEST_PUBLISHER, [field]: value }, field)).toContain(problem)
  })

  it('may be reached by mail or at a page', () => {
    for (const contact of ['data@acme.example', 'mailto:data@acme.example', 'https://acme.example/us'])
      expect(publisherProblem({ ...TEST_PUBLISHER, contact }, 'contact')).toBeUndefined()
  })
})
