/** Pictures for links in the public folder: drawn when what they show has changed, and verified. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildIn, newWorkspace, sha256, type Workspace } from '../support/pipeline.ts'
import { deliver, release, verifyFolder } from '../support/releases.ts'

const CARD = 'pictures/card.png'
const OVERVIEW = 'pictures/overview.png'

const picture = ({ publicDir }: Workspace, path: string) => join(publicDir, path)
const noteOf = ({ dataDir }: Workspace) => join(dataDir, 'state/pictures.json')

async function oneRelease(): Promise<Workspace> {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-01', 5, 'acme/one']], '2025-03-10T10:00:00Z')
  return workspace
}

it('a build draws the pictures that pages name, and draws again what has changed', async () => {
  const workspace = await oneRelease()
  const pages = await Promise.all(
    ['index.html', 'leaderboards/day.html', 'models.html'].map((path) =>
      readFile(join(workspace.publicDir, path), 'utf8'),
    ),
  )
  const names = (await readdir(join(workspace.publicDir, 'pictures'))).map((name) => `pictures/${name}`)
  for (const text of pages) {
    const [, path = ''] = /property="og:image" content="[^"]+?(pictures\/[\w.]+)/.exec(text) ?? []
    expect(names).toContain(path)
  }
  const [card, overview] = [await readFile(picture(workspace, CARD)), await readFile(picture(workspace, OVERVIEW))]
  await release(workspace, [['2025-03-01', 7, 'acme/one']], '2025-03-10T11:00:00Z')
  expect((await readFile(picture(workspace, CARD))).equals(card)).toBe(true)
  expect((await readFile(picture(workspace, OVERVIEW))).equals(overview)).toBe(false)
  await verifyFolder(workspace.publicDir)
})

it('does not draw a picture again that is published as it was noted', async () => {
  const workspace = await oneRelease()
  const note = JSON.parse(await readFile(noteOf(workspace), 'utf8'))
  await writeFile(picture(workspace, CARD), 'a sign')
  note[CARD].sha256 = sha256('a sign')
  await writeFile(noteOf(workspace), JSON.stringify(note))
  await release(workspace, [['2025-03-01', 7, 'acme/one']], '2025-03-10T11:00:00Z')
  expect(await readFile(picture(workspace, CARD), 'utf8')).toBe('a sign')
})

it('verify names a picture that was changed, and the next build restores it', async () => {
  const workspace = await oneRelease()
  const bytes = await readFile(picture(workspace, CARD))
  await writeFile(picture(workspace, CARD), 'another')
  await expect(verifyFolder(workspace.publicDir)).rejects.toThrow(picture(workspace, CARD))
  await deliver(workspace, [['2025-03-01', 5, 'acme/one']])
  await buildIn(workspace, '2025-03-10T11:00:00Z')
  expect((await readFile(picture(workspace, CARD))).equals(bytes)).toBe(true)
})
