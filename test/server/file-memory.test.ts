import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileMemory } from '../../server/published/file-memory.ts'
import { temporaryFolder } from '../support/app.ts'

const RELEASE = '20250210T001200Z'
const RELEASES = 'datasets/rankings-daily/v1/releases'

/** A memory that has kept what a path leads to, and the folder to change it in. */
async function kept(path: string) {
  const root = await temporaryFolder()
  const at = (name: string) => join(root, name)
  for (const folder of ['old', 'new', `${RELEASES}/${RELEASE}`]) await mkdir(at(folder), { recursive: true })
  for (const file of ['data.csv', 'page.html', 'old/data.csv', 'new/data.csv', `${RELEASES}/${RELEASE}/a.csv`]) {
    await writeFile(at(file), 'text')
  }
  await symlink('old', at('latest'))
  const memory = fileMemory<{ bytes: number }>(root, 10_000)
  const sight = memory.look(path)
  if (sight === undefined) throw new Error(`${path} leads to nothing`)
  const value = { bytes: 4 }
  memory.keep('name', sight, value)
  return { at, memory, value, sight }
}

test.each<[string, string, (at: (name: string) => string) => Promise<unknown>]>([
  ['is replaced', '/data.csv', (at) => rename(at('new/data.csv'), at('data.csv'))],
  ['is written to', '/data.csv', (at) => writeFile(at('data.csv'), 'longer text')],
  ['is removed', '/data.csv', (at) => rm(at('data.csv'))],
  ['becomes a link', '/data.csv', (at) => rm(at('data.csv')).then(() => symlink('new/data.csv', at('data.csv')))],
  ['is reached by a link that leads elsewhere now', '/latest/data.csv', pointAtNew],
  ['has a gzip beside it now', '/data.csv', (at) => writeFile(at('data.csv.gz'), '')],
  ['has a compressed form beside it now', '/page.html', (at) => writeFile(at('page.html.gz'), '')],
  [
    'is of a release that was withdrawn',
    `/${RELEASES}/${RELEASE}/a.csv`,
    (at) => writeFile(at(`${RELEASES}/${RELEASE}/TOMBSTONE.json`), '{}'),
  ],
])('forgets a file at once when it %s', async (_what, path, change) => {
  const { at, memory, value } = await kept(path)
  expect(memory.recall('name')).toBe(value)
  await change(at)
  expect(memory.recall('name')).toBeUndefined()
})

test('does not keep a file that changed while it was read', async () => {
  const { at, memory, sight } = await kept('/latest/data.csv')
  await pointAtNew(at)
  memory.keep('later', sight, { bytes: 4 })
  expect(memory.recall('later')).toBeUndefined()
})

test('keeps a file when others change', async () => {
  const { at, memory, value } = await kept('/page.html')
  await writeFile(at('other.html'), 'text')
  await writeFile(at('page.html.zst'), 'of no use, as nobody looks for it')
  expect(memory.recall('name')).toBe(value)
})

test.each(['/missing.csv', '/.hidden', '/../data.csv', '/%', '/data.csv/more'])(
  'there is nothing to keep at %s',
  async (path) => {
    expect((await kept('/data.csv')).memory.look(path)).toBeUndefined()
  },
)

async function pointAtNew(at: (name: string) => string): Promise<void> {
  await symlink('new', at('next'))
  await rename(at('next'), at('latest'))
}
