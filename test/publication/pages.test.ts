/** Builds render only the pages that changed; the case damaged-pages shows how they mend others. */
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { DATASET_PATH, releasePath } from '../../pipeline/contract/manifest.ts'
import type { Rendered } from '../../pipeline/publication/rendered.ts'
import { publicFiles } from '../../server/published/public-files.ts'
import { filesAfter } from '../support/crash.ts'
import {
  buildIn,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  sha256,
  snapshotTree,
  type Workspace,
} from '../support/pipeline.ts'
import { deliver, release, type Use } from '../support/releases.ts'
import { linksOf } from '../support/site.ts'

it('writes no page when nothing has changed, and no link to a file that is gone when a release is dropped', async () => {
  const workspace = await newWorkspace()
  const { publicDir } = workspace
  const dropped = await release(workspace, [['2025-03-09', 1, 'acme/one']], '2025-03-10T12:00:00Z')
  const written: unknown[] = []
  const files = filesAfter((path) => {
    if (String(path).includes('.html')) written.push(path)
  })
  await buildIn(workspace, '2025-03-10T13:00:00Z', { files })
  expect(written).toEqual([])

  await deliver(workspace, [['2025-03-09', 2, 'acme/one']], { retention: { keep_releases: 1 } })
  await buildIn(workspace, '2025-03-10T14:00:00Z')
  const file = { release: dropped, name: 'rankings-weekly.csv', table: 'weekly' }
  const path = `/${releasePath(dropped)}/${file.name}`
  expect(await publicFiles(publicDir, { warn: () => {} }).find(path)).toEqual({ kind: 'dropped', file })
  // The page of a release never changes: its list of files stays.
  const isOwn = (name: string) => !name.startsWith(`${DATASET_PATH}/`) && name.endsWith('.html')
  for (const name of (await readdir(publicDir, { recursive: true })).filter(isOwn)) {
    const links = linksOf({ path: name, text: await readFile(join(publicDir, name), 'utf8') })
    for (const link of links) expect(existsSync(join(publicDir, link)), `${name} links to ${link}`).toBe(true)
  }
})

const DAYS: readonly Use[] = [
  ['2025-03-07', 3, 'acme/one'],
  ['2025-03-08', 2, 'acme/two'],
  ['2025-03-09', 1, 'acme/one'],
]

/** Builds on two days. Returns what is published when `between` has happened before the second one. */
async function twoReleases(between: (workspace: Workspace) => Promise<void> = async () => {}): Promise<unknown> {
  const workspace = await createWorkspace()
  try {
    await release(workspace, DAYS.slice(0, 2), '2025-03-09T12:00:00Z')
    await between(workspace)
    await release(workspace, DAYS, '2025-03-10T12:00:00Z')
    return await snapshotTree(workspace.publicDir)
  } finally {
    await removeWorkspace(workspace)
  }
}

const noteOf = ({ dataDir }: Workspace) => join(dataDir, 'state/pages.json')

/** Damages the published script, and what was noted of it as `change` says. */
async function damageScript(workspace: Workspace, change: (note: Rendered, path: string, sha256: string) => void) {
  const note: Rendered = JSON.parse(await readFile(noteOf(workspace), 'utf8'))
  const path = note.scripts.names['copy.ts'] ?? ''
  const text = `${await readFile(join(workspace.publicDir, path), 'utf8')}//`
  await writeFile(join(workspace.publicDir, path), text)
  change(note, path, sha256(text))
  await writeFile(noteOf(workspace), JSON.stringify(note))
}

it('removes a hashed asset when neither the pages nor those before them load it, and no file of the publisher', async () => {
  const workspace = await newWorkspace()
  await release(workspace, DAYS.slice(0, 1), '2025-03-08T12:00:00Z')
  const [old, own] = ['assets/explore-0123456789abcdef.js', 'assets/logo-0123456789abcdef.svg']
  for (const path of [old, `${old}.gz`, own]) await writeFile(join(workspace.publicDir, path), path)
  const note: Rendered = JSON.parse(await readFile(noteOf(workspace), 'utf8'))
  note.pages[old] = { sha256: sha256(old) }
  await writeFile(noteOf(workspace), JSON.stringify(note))
  const left = async () => (await readdir(join(workspace.publicDir, 'assets'))).filter((name) => name.includes('0123'))
  await release(workspace, DAYS.slice(0, 2), '2025-03-09T12:00:00Z')
  expect(await left()).toHaveLength(3)
  await release(workspace, DAYS, '2025-03-10T12:00:00Z')
  expect((await left()).map((name) => `assets/${name}`)).toEqual([own])
})

describe('the second build', () => {
  let expected: unknown
  beforeAll(async () => {
    expected = await twoReleases()
  })

  it('publishes the same bytes as one that knows nothing of the first', async () => {
    expect(await twoReleases((workspace) => rm(noteOf(workspace)))).toEqual(expected)
  })

  it.each<[string, (note: Rendered, path: string, sha256: string) => void]>([
    ['have other bytes than were noted', () => {}],
    [
      'were made from other sources',
      (note, path, sha256) => {
        note.pages[path] = { sha256 }
        note.scripts.source = sha256
      },
    ],
  ])('makes the scripts again if the published ones %s', async (_, change) => {
    expect(await twoReleases((workspace) => damageScript(workspace, change))).toEqual(expected)
  })

  it('takes the published scripts if they are those that were noted', async () => {
    const published = await twoReleases((workspace) =>
      damageScript(workspace, (note, path, sha256) => {
        note.pages[path] = { sha256 }
      }),
    )
    expect(published).not.toEqual(expected)
  })
})
