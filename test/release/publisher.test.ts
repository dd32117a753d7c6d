/** A release of real logs names who publishes it; the placeholder is the sample's alone. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../pipeline/base/errors.ts'
import { Manifest, type Publisher } from '../../pipeline/contract/manifest.ts'
import {
  buildIn,
  crowd,
  newWorkspace,
  REPOSITORY,
  readLatest,
  releaseFolder,
  runBuild,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER, writePublisher } from '../support/publisher.ts'

const PLACEHOLDER: Publisher = JSON.parse(await readFile(join(REPOSITORY, 'data/publisher.json'), 'utf8'))

async function workspaceOf(publisher: Publisher): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: crowd(3, () => 5) }] })
  await writePublisher(workspace.dataDir, publisher)
  return workspace
}

/** The message of a build that is refused and changes nothing that is published. */
async function refusal(workspace: Workspace, options = {}): Promise<string> {
  const before = await snapshotTree(workspace.publicDir)
  const error: unknown = await buildIn(workspace, '2025-03-10T13:00:00Z', {}, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(CliError)
  expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  return error instanceof Error ? error.message : ''
}

/** The object of JSON that a message ends with: what the maintainer is to write. */
function linesToWrite(message: string): unknown {
  return JSON.parse(message.slice(message.indexOf('\n{')))
}

describe('a release of real logs', () => {
  it.each([
    ['the one of the project', {}, ['url is "https://example.org/tokenboard"', 'contact is "data@example.org"']],
    ['another name alone', { name: 'Acme' }, ['url is', 'contact is']],
    ['the contact alone', { url: TEST_PUBLISHER.url }, ['contact is "data@example.org"']],
    ['the url alone', { contact: 'me@acme.example' }, ['url is "https://example.org/tokenboard"']],
    [
      'a host below it',
      { url: 'http://Data.Example.ORG:8080/x', contact: 'c' },
      ['url is "http://Data.Example.ORG:8080/x"'],
    ],
    [
      'an address below it',
      { url: TEST_PUBLISHER.url, contact: 'a@mail.Example.org' },
      ['contact is "a@mail.Example.org"'],
    ],
    [
      'a page as contact',
      { url: TEST_PUBLISHER.url, contact: 'https://example.org./us' },
      ['contact is "https://example.org./us"'],
    ],
  ])('is refused under a placeholder: %s', async (_, changes, problems) => {
    const workspace = await workspaceOf({ ...PLACEHOLDER, ...changes })
    const message = await refusal(workspace)
    expect(message).toContain(join(workspace.dataDir, 'publisher.json'))
    for (const problem of problems) expect(message).toContain(problem)
    for (const field of ['url', 'contact'].filter((name) => !problems.join().includes(`${name} is`)))
      expect(message).not.toContain(`${field} is`)
  })

  it.each([
    ['a host that only ends like it', { url: 'https://myexample.org/', contact: 'data@notexample.org' }],
    ['words that mention it', { url: 'https://acme.example/example.org', contact: 'not data@example.org, but us' }],
    ['example.com', { url: 'https://example.com/', contact: 'data@example.com' }],
  ])('is made under %s', async (_, changes) => {
    const workspace = await workspaceOf({ ...PLACEHOLDER, ...changes })
    expect(await buildIn(workspace)).toMatchObject({ outcome: 'released' })
  })

  it('shows the lines to write, with what is already right, and cannot be made with these lines as they are', async () => {
    const workspace = await workspaceOf({ ...PLACEHOLDER, title: 'Tokens of Acme', contact: 'data@acme.example' })
    const lines = linesToWrite(await refusal(workspace))
    expect(lines).toMatchObject({ title: 'Tokens of Acme', contact: 'data@acme.example' })
    expect(Object.keys(lines as object)).toEqual(['name', 'url', 'contact', 'title', 'description'])
    await writeFile(join(workspace.dataDir, 'publisher.json'), JSON.stringify(lines))
    expect(await refusal(workspace)).toMatch(/publisher\.json: url: /)
  })

  it('cannot be made with the lines of docs/publishing.md as they are', async () => {
    const page = await readFile(join(REPOSITORY, 'docs/publishing.md'), 'utf8')
    const lines = page.split('```json\n').find((block) => block.includes('"contact"')) ?? ''
    const workspace = await workspaceOf(TEST_PUBLISHER)
    await writeFile(join(workspace.dataDir, 'publisher.json'), lines.slice(0, lines.indexOf('```')))
    expect(await refusal(workspace)).toMatch(/publisher\.json: url: /)
  })

  it('is refused without a publisher.json in DATA_DIR, whatever the one of the project says', async () => {
    const workspace = await workspaceOf(TEST_PUBLISHER)
    await rm(join(workspace.dataDir, 'publisher.json'))
    const message = await refusal(workspace)
    expect(message).toContain(`there is no ${join(workspace.dataDir, 'publisher.json')}`)
    expect(Object.keys(linesToWrite(message) as object)).toHaveLength(5)
  })

  it('is refused by a dry run too', async () => {
    expect(await refusal(await workspaceOf(PLACEHOLDER), { dryRun: true })).toContain('publisher.json')
  })

  it('ends the command with exit code 2', async () => {
    const { code, stdout, stderr } = await runBuild(await workspaceOf(PLACEHOLDER))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('publisher.json: url is "https://example.org/tokenboard"')
  })
})

describe('a folder that has releases', () => {
  async function released(): Promise<Workspace> {
    const workspace = await workspaceOf(TEST_PUBLISHER)
    await buildIn(workspace)
    await writePublisher(workspace.dataDir, { ...TEST_PUBLISHER, name: 'Acme' })
    await buildIn(workspace, '2025-03-10T12:30:00Z')
    await writePublisher(workspace.dataDir, PLACEHOLDER)
    return workspace
  }

  it('gets no further one under the placeholder, and goes on with the next publisher', async () => {
    const workspace = await released()
    const { release } = await readLatest(workspace)
    await refusal(workspace)
    await writePublisher(workspace.dataDir, { ...TEST_PUBLISHER, name: 'Acme again' })
    const { outcome } = await buildIn(workspace, '2025-03-10T14:00:00Z')
    expect(outcome).toBe('released')
    const manifest = async (name: string) =>
      Manifest.parse(
        JSON.parse(await readFile(join(await releaseFolder(workspace), '..', name, 'manifest.json'), 'utf8')),
      )
    expect((await manifest(release)).publisher.name).toBe('Acme')
    expect((await manifest('20250310T140000Z')).publisher.name).toBe('Acme again')
  })

  it('can be verified, reproduced, archived and withdrawn from under the placeholder', async () => {
    const workspace = await released()
    for (const words of [
      ['verify'],
      ['reproduce'],
      ['archive', '--before', '2025-03-03'],
      ['withdraw', '20250310T120000Z', '--reason', 'It was wrong.', '--dry-run'],
    ]) {
      const { code, stderr } = await runCli(words, settings(workspace, '2025-03-10T15:00:00Z'))
      expect(code, stderr).toBe(0)
    }
  })
})
