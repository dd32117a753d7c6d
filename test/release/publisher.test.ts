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
  runBuild,
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
  it.each([
    ['the placeholder of the sample', {}, ['url is "https://example.org/tokenboard"', 'contact is "data@example.org"']],
    ['the placeholder with another name', { name: 'Acme' }, ['url is', 'contact is']],
    ['the contact of the placeholder', { url: TEST_PUBLISHER.url }, ['contact is "data@example.org"']],
    ['the URL of the placeholder', { contact: 'me@acme.example' }, ['url is "https://example.org/tokenboard"']],
    [
      'a host below that of the placeholder',
      { url: 'http://Data.Example.ORG:8080/x', contact: 'c' },
      ['url is "http://Data.Example.ORG:8080/x"'],
    ],
    [
      'a mail address below that of the placeholder',
      { url: TEST_PUBLISHER.url, contact: 'a@mail.Example.org' },
      ['contact is "a@mail.Example.org"'],
    ],
    [
      'a page of the placeholder as contact',
      { url: TEST_PUBLISHER.url, contact: 'https://example.org./us' },
      ['contact is "https://example.org./us"'],
    ],
  ])('is refused under %s', async (_, changes, problems) => {
    const folder = await folderWith({ ...PLACEHOLDER, ...changes })
    const message = await refusalIn(folder)
    expect(message).toContain(join(folder, 'publisher.json'))
    for (const problem of problems) expect(message).toContain(problem)
    for (const field of ['url', 'contact'].filter((name) => !problems.join().includes(`${name} is`)))
      expect(message).not.toContain(`${field} is`)
  })

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

describe('a folder that has releases', () => {
  it('gets releases of several publishers but none under the placeholder, under which other commands work', async () => {
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
    for (const words of [[], ['--dry-run']]) {
      const { code, stdout, stderr } = await runBuild(workspace, { AS_OF: '2025-03-10T13:00:00Z' }, words)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain('publisher.json: url is "https://example.org/tokenboard"')
    }
    for (const words of [
      ['verify'],
      ['reproduce'],
      ['archive', '--before', '2025-03-03'],
      ['withdraw', '20250310T120000Z', '--reason', 'It was wrong.', '--dry-run'],
    ]) {
      const { code, stderr } = await runCli(words, settings(workspace, '2025-03-10T15:00:00Z'))
      expect(code, stderr).toBe(0)
    }
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })
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

  it.each(['data@acme.example', 'mailto:data@acme.example', 'https://acme.example/us'])(
    'may be reached by %s',
    (contact) => {
      expect(publisherProblem({ ...TEST_PUBLISHER, contact }, 'contact')).toBeUndefined()
    },
  )
})
