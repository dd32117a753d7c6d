import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { realFiles } from '../../pipeline/files.ts'

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
