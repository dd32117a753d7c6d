import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { through } from '../../../pipeline/raw/files/through.ts'
import { temporaryFolder } from '../../support/folder.ts'

const BYTES = 8_000_000

/** A stream of a file of 8 MB, which is to be inflated. */
async function inflating(damage: (bytes: Buffer) => void = () => {}) {
  // Stored as they are: the file is as large as its content.
  const bytes = gzipSync(Buffer.alloc(BYTES, 7), { level: 0 })
  damage(bytes)
  const path = join(await temporaryFolder(), 'file.gz')
  await writeFile(path, bytes)
  const source = createReadStream(path)
  return { source, content: through(source, createGunzip(), () => {}) }
}

describe('a file that is decompressed', () => {
  it('is read to its end and closed', async () => {
    const { source, content } = await inflating()
    expect(Buffer.concat(await Array.fromAsync(content))).toHaveLength(BYTES)
    await expect.poll(() => source.closed).toBe(true)
  })

  it('is closed and not read further if its bytes are damaged', async () => {
    const { source, content } = await inflating((bytes) => bytes.fill(0xff, 10, 20))
    await expect(Array.fromAsync(content)).rejects.toThrow(/invalid/)
    await expect.poll(() => source.closed).toBe(true)
    expect(source.bytesRead).toBeLessThan(BYTES / 2)
  })

  it('is closed and not read further if its reader stops', async () => {
    const { source, content } = await inflating()
    for await (const piece of content) {
      expect(piece).not.toHaveLength(0)
      break
    }
    await expect.poll(() => source.closed).toBe(true)
    expect(source.bytesRead).toBeLessThan(BYTES / 2)
  })

  it('fails for its reader if it does not exist', async () => {
    const source = createReadStream(join(await temporaryFolder(), 'none.gz'))
    await expect(Array.fromAsync(through(source, createGunzip(), () => {}))).rejects.toThrow(/ENOENT/)
  })
})
