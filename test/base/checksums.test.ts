/** Folders with SHA256SUMS. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { verifyChecksums, writeChecksums } from '../../pipeline/base/checksums.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { temporaryFolder } from '../support/folder.ts'

async function checkedFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'checked')
  await mkdir(folder)
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(folder, name), `content of ${name}\n`)
  await writeChecksums(folder, realFiles)
  return folder
}

it('verifyChecksums accepts an unchanged folder and returns the size of each file', async () => {
  const found = await verifyChecksums(await checkedFolder())
  expect([...found].map(([name, { bytes }]) => [name, bytes])).toEqual([
    ['a.txt', 17],
    ['b.txt', 17],
  ])
})

it.each<[string, (folder: string) => Promise<void>, string]>([
  ['a changed byte', (folder) => writeFile(join(folder, 'b.txt'), 'content of B.txt\n'), 'b.txt does not have the'],
  ['a file too many', (folder) => writeFile(join(folder, 'c.txt'), ''), 'c.txt is not listed'],
  ['a missing file', (folder) => rm(join(folder, 'a.txt')), 'a.txt is listed in SHA256SUMS but missing'],
  ['no list of checksums', (folder) => rm(join(folder, 'SHA256SUMS')), 'SHA256SUMS is missing'],
  ['a line too many', (folder) => writeFile(join(folder, 'SHA256SUMS'), '\n', { flag: 'a' }), 'lines that are no'],
])('verifyChecksums refuses a folder with %s, and names the file', async (_what, damage, message) => {
  const folder = await checkedFolder()
  await damage(folder)
  await expect(verifyChecksums(folder)).rejects.toThrow(BuildError)
  await expect(verifyChecksums(folder)).rejects.toThrow(message)
})
