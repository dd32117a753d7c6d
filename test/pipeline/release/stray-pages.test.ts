import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { strayPages } from '../../../pipeline/publication/stray-pages.ts'
import { newWorkspace } from '../../support/pipeline.ts'

it('finds the pages that are made no more, and the folders that they alone are in', async () => {
  const { publicDir } = await newWorkspace()
  const kept = ['models/acme/one.html', 'models/top.html']
  const gone = ['models/acme/two.html', 'models/acme/two/three.html', 'models/other/four.html', 'models/five.html']
  for (const path of [...kept, ...gone, 'models.html', 'coverage/2025.html']) {
    await mkdir(dirname(join(publicDir, path)), { recursive: true })
    await writeFile(join(publicDir, path), '')
  }
  expect((await strayPages(publicDir, 'models', kept)).toSorted()).toEqual([
    'models/acme/two',
    'models/acme/two.html',
    'models/five.html',
    'models/other',
  ])
})

it('finds none where the folder was never made', async () => {
  const { publicDir } = await newWorkspace()
  expect(await strayPages(publicDir, 'models', [])).toEqual([])
})
