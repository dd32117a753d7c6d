import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { strayFiles } from '../../pipeline/publication/compare.ts'
import { newWorkspace } from '../support/pipeline.ts'

it('finds pages that no release makes any more', async () => {
  const { publicDir } = await newWorkspace()
  const kept = ['models/acme/one.html', 'models/top.html']
  const gone = ['models/acme/two.html', 'models/acme/two/three.html', 'models/five.html', 'models/other/four.html']
  for (const path of [...kept, ...gone, 'models.html', 'coverage/2025.html']) {
    await mkdir(dirname(join(publicDir, path)), { recursive: true })
    await writeFile(join(publicDir, path), '')
  }
  const entries = kept.map((path) => ({ path }))
  expect(await strayFiles(publicDir, ['models', 'changelog'], entries)).toEqual(gone)
})
