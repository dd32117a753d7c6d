import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { isInside, realFiles } from '../../pipeline/files.ts'

const ROUNDS = 200

it('makes folders side by side that have the same missing folders above them', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (let round = 0; round < ROUNDS; round += 1) {
    const folder = join(root, `${round}`, 'a')
    const paths = ['x/1', 'y/1', 'x/2', 'y/2', 'z'].map((path) => join(folder, path))
    await Promise.all(paths.map((path) => realFiles.makeFolder(path)))
    expect(await readdir(folder)).toEqual(['x', 'y', 'z'])
  }
})

it('tells what lies in a folder wherever links lead, and before it is there', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
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
