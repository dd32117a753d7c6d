import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { realFiles } from '../../../pipeline/files.ts'
import { sweep } from '../../../pipeline/release/sweep.ts'
import { newWorkspace } from '../../support/pipeline.ts'

it('removes the pages that are made no more, and the folders that they alone were in', async () => {
  const { publicDir } = await newWorkspace()
  const kept = ['models/acme/one.html', 'models/top.html']
  const gone = ['models/acme/two.html', 'models/acme/two/three.html', 'models/other/four.html', 'models/five.html']
  for (const path of [...kept, ...gone, 'models.html', 'coverage/2025.html']) {
    await mkdir(dirname(join(publicDir, path)), { recursive: true })
    await writeFile(join(publicDir, path), '')
  }
  await sweep({ publicDir, files: realFiles }, 'models', kept)
  expect((await readdir(publicDir, { recursive: true })).toSorted()).toEqual([
    'coverage',
    'coverage/2025.html',
    'models',
    'models.html',
    'models/acme',
    'models/acme/one.html',
    'models/top.html',
  ])
})

it('is content where the folder was never made', async () => {
  const { publicDir } = await newWorkspace()
  await sweep({ publicDir, files: realFiles }, 'models', [])
  expect(await readdir(publicDir)).toEqual([])
})
