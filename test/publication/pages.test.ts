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
  withdrawIn,
} from '../support/pipeline.ts'
import { deliver, release, type Use, verifyFolder } from '../support/releases.ts'
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
  for (const path of [old, `${old}.br`, own]) await writeFile(join(workspace.publicDir, path), path)
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

/** Rows on 20 days, with the tokens of one model on some days replaced. */
function manyDays(count: number, changed: Readonly<Record<string, number>> = {}): Use[] {
  return Array.from({ length: count }, (_, day): Use[] => {
    const date = `2025-03-${String(day + 1).padStart(2, '0')}`
    return [
      [date, changed[date] ?? 1000 + day, 'acme/one'],
      [date, 500, 'acme/two'],
    ]
  }).flat()
}

const dayOf = (day: number) => `days/2025-03-${String(day).padStart(2, '0')}.html`

/** Puts a mark in the place of the pages of all days, as if they had been rendered so. */
async function markDays({ publicDir, dataDir }: Workspace): Promise<void> {
  const path = join(dataDir, 'state/pages.json')
  const note: Rendered = JSON.parse(await readFile(path, 'utf8'))
  for (const [page, noted] of Object.entries(note.pages).filter(([name]) => name.startsWith('days/'))) {
    await writeFile(join(publicDir, page), MARK)
    note.pages[page] = { ...noted, sha256: sha256(MARK) }
  }
  await writeFile(path, JSON.stringify(note))
}

const MARK = 'not rendered again'

async function renderedAgain({ publicDir }: Workspace): Promise<string[]> {
  const names = (await readdir(join(publicDir, 'days'))).filter((name) => name.endsWith('.html')).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(publicDir, 'days', name), 'utf8')))
  return names.flatMap((name, position) => (texts[position] === MARK ? [] : `days/${name}`))
}

describe('the pages of days', () => {
  it('are rendered by a new day only if it changes them: the last week and what a restatement shows in', async () => {
    const workspace = await newWorkspace()
    await release(workspace, manyDays(20), '2025-03-21T12:00:00Z')
    await markDays(workspace)
    await release(workspace, manyDays(21), '2025-03-22T12:00:00Z')
    // The week around a day, the day after it, and the day that is final from now on.
    expect(await renderedAgain(workspace)).toEqual([15, 16, 17, 18, 19, 20, 21].map(dayOf))

    await markDays(workspace)
    await release(workspace, manyDays(21, { '2025-03-05': 9 }), '2025-03-22T13:00:00Z')
    // Three days before and after, and the day a week later, whose ranking is compared with it.
    expect(await renderedAgain(workspace)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 12].map(dayOf))
  })

  it('are those that follow from the releases after late data, a restatement, a gap and a withdrawal', async () => {
    const workspace = await newWorkspace()
    await release(workspace, manyDays(9), '2025-03-10T12:00:00Z')
    await release(workspace, manyDays(10, { '2025-03-09': 7, '2025-03-02': 5 }), '2025-03-11T12:00:00Z')
    const wrong = await release(workspace, manyDays(11, { '2025-03-02': 6 }), '2025-03-12T12:00:00Z')
    await verifyFolder(workspace.publicDir)
    await release(
      workspace,
      manyDays(12).filter(([date]) => date !== '2025-03-04'),
      '2025-03-13T12:00:00Z',
    )
    await verifyFolder(workspace.publicDir)
    expect(existsSync(join(workspace.publicDir, dayOf(4)))).toBe(false)
    await withdrawIn(workspace, wrong, '2025-03-14T12:00:00Z')
    await verifyFolder(workspace.publicDir)
    const page = await readFile(join(workspace.publicDir, dayOf(2)), 'utf8')
    expect(page).toContain('<caption>Revisions, newest first</caption>')
    expect(page).not.toContain(`releases/${wrong}`)
  })

  it('are rendered again if one was damaged', async () => {
    const workspace = await newWorkspace()
    await release(workspace, manyDays(20), '2025-03-21T12:00:00Z')
    const path = join(workspace.publicDir, dayOf(3))
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('acme/one', 'acme/two'))
    await release(workspace, manyDays(21), '2025-03-22T12:00:00Z')
    expect(await readFile(path, 'utf8')).toBe(text)
  })
})
