import { readdirSync, statSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isInside, realFiles, replaceFile } from '../../pipeline/base/files.ts'
import { temporaryFolder } from '../support/folder.ts'
import { recordSyncs } from '../support/syncs.ts'

const ROUNDS = 200

it('makeFolder creates missing parents, also for several folders at once', async () => {
  const root = await temporaryFolder()
  for (let round = 0; round < ROUNDS; round += 1) {
    const folder = join(root, `${round}`, 'a')
    const paths = ['x/1', 'y/1', 'x/2', 'y/2', 'z'].map((path) => join(folder, path))
    await Promise.all(paths.map((path) => realFiles.makeFolder(path)))
    expect(await readdir(folder)).toEqual(['x', 'y', 'z'])
  }
})

it('isInside follows links, and accepts paths that do not exist', async () => {
  const root = await temporaryFolder()
  await mkdir(join(root, 'site/inner'), { recursive: true })
  await mkdir(join(root, 'data'))
  await symlink('site/inner', join(root, 'to-inner'))
  await symlink('data', join(root, 'to-data'))
  await symlink('../data', join(root, 'site/out'))
  const within = (path: string, folder: string) => isInside(join(root, path), join(root, folder))
  expect(within('site', 'site')).toBe(true)
  expect(within('to-inner/not/yet', 'site')).toBe(true)
  expect(within('data/state', 'to-data')).toBe(true)
  expect(within('data/state', 'site/out')).toBe(true)
  expect(within('not/yet', 'not')).toBe(true)
  expect(within('site/out/state', 'site')).toBe(false)
  expect(within('sites', 'site')).toBe(false)
  expect(within('site', 'site/inner')).toBe(false)
})

describe('a change of a file is on disk before it is reported as done', () => {
  const TEXT = 'text that is to be on disk\n'
  const inodeOf = (path: string) => statSync(path).ino

  /** An empty folder, and all that is synced from now on, with the names in the folder at that moment. */
  async function watchedFolder() {
    const folder = await temporaryFolder()
    const syncs = await recordSyncs(() => readdirSync(folder).toSorted())
    return { folder, syncs }
  }

  it.each([
    ['text', () => TEXT],
    ['bytes', () => Buffer.from(TEXT)],
    [
      'lines that are made one after another',
      async function* lines() {
        yield* TEXT
      },
    ],
  ])('write: the bytes of %s', async (_name, content) => {
    const { folder, syncs } = await watchedFolder()
    const path = join(folder, 'new')
    await realFiles.write(path, content())
    expect(syncs).toEqual([{ inode: inodeOf(path), bytes: TEXT.length, seen: ['new'] }])
  })

  it('write and makeFolder: for the owner alone, if private', async () => {
    const { folder } = await watchedFolder()
    const [file, inner] = [join(folder, 'new'), join(folder, 'inner')]
    await replaceFile(realFiles, file, TEXT, { isPrivate: true })
    await realFiles.makeFolder(inner, true)
    expect([file, inner].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700])
  })

  it('copy: the bytes of the copy', async () => {
    const { folder, syncs } = await watchedFolder()
    const [from, to] = [join(folder, 'from'), join(folder, 'to')]
    await writeFile(from, TEXT)
    await realFiles.copy(from, to)
    expect(syncs).toEqual([{ inode: inodeOf(to), bytes: TEXT.length, seen: ['from', 'to'] }])
  })

  it('rename: the folder with the new name', async () => {
    const { folder, syncs } = await watchedFolder()
    const from = await temporaryFolder()
    await writeFile(join(from, 'old'), TEXT)
    await realFiles.rename(join(from, 'old'), join(folder, 'new'))
    expect(syncs).toMatchObject([{ inode: inodeOf(folder), seen: ['new'] }])
  })

  it('flush: the file or folder', async () => {
    const { folder, syncs } = await watchedFolder()
    await writeFile(join(folder, 'new'), TEXT)
    await realFiles.flush(join(folder, 'new'))
    await realFiles.flush(folder)
    expect(syncs).toMatchObject([
      { inode: inodeOf(join(folder, 'new')), bytes: TEXT.length },
      { inode: inodeOf(folder) },
    ])
  })

  it('replaceFile: first the bytes, then the folder with the new name', async () => {
    const { folder, syncs } = await watchedFolder()
    await replaceFile(realFiles, join(folder, 'new'), TEXT)
    expect(syncs).toMatchObject([
      { inode: inodeOf(join(folder, 'new')), bytes: TEXT.length, seen: ['new.next'] },
      { inode: inodeOf(folder), seen: ['new'] },
    ])
  })
})
