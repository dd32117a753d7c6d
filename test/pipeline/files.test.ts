import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { realFiles } from '../../pipeline/files.ts'
import { newWorkspace } from '../support/pipeline.ts'

it('makes folders side by side below one that none of them has made yet', async () => {
  const { root } = await newWorkspace()
  const rounds = Array.from({ length: 300 }, (_, round) => join(root, `${round}`, 'new'))
  for (const round of rounds) {
    await Promise.all(['a', 'b', 'c', 'd/e', 'd/f'].map((name) => realFiles.makeFolder(join(round, name))))
    expect((await readdir(round)).toSorted()).toEqual(['a', 'b', 'c', 'd'])
  }
})
