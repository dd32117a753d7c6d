import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decompressZstd, zstdFrames } from '../../../pipeline/raw/files/zstd.ts'
import { useFolder } from '../../support/folder.ts'

const folder = useFolder()

async function check(bytes: Uint8Array): Promise<void> {
  const path = join(folder(), 'file.zst')
  await writeFile(path, bytes)
  await Array.fromAsync(zstdFrames(path))
}

// Several blocks: one is at most 128 KiB. Some are compressed, the run of zeros is one repeated byte.
const text = Buffer.from(Array.from({ length: 60_000 }, (_, i) => `row ${(i * 7919) % 10_007}\n`).join(''))
const zeros = Buffer.alloc(300_000)
const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
const withChecksum = zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })

describe('zstd files that are not whole', () => {
  const two = Buffer.concat([zstdCompressSync(text), withChecksum])

  it('are refused for every cut of the second frame', async () => {
    const first = zstdCompressSync(text).length
    for (let length = two.length - 1; length > first; length -= 997) {
      await expect(check(two.subarray(0, length)), `cut at ${length}`).rejects.toThrow(/unexpected end/)
    }
  })

  it.each([
    ['nothing', Buffer.alloc(0), /empty/],
    ['text', Buffer.from('timestamp,model'), /not a zstd frame/],
    ['bytes after the last frame', Buffer.concat([two, Buffer.from('junk')]), /not a zstd frame/],
    ['a cut skippable frame', skippable.subarray(0, 10), /unexpected end/],
  ])('are refused: %s', async (_, bytes, message) => expect(check(bytes)).rejects.toThrow(message))
})

it.each([
  ['one frame', [zstdCompressSync(text)], text.toString()],
  ['an empty frame', [zstdCompressSync('')], ''],
  ['a run of one byte', [zstdCompressSync(zeros)], zeros.toString()],
  ['several frames, one with a checksum', [zstdCompressSync('a'), zstdCompressSync('b'), withChecksum], `ab${text}`],
  ['skippable frames between', [skippable, zstdCompressSync('a'), skippable, zstdCompressSync('b')], 'ab'],
  ['a skippable frame alone', [skippable], ''],
])('whole zstd files are valid and read: %s', async (_, frames, content) => {
  const bytes = Buffer.concat(frames)
  await check(bytes)
  let read = 0
  const chunks = decompressZstd(join(folder(), 'file.zst'), (count) => {
    read += count
  })
  expect(Buffer.concat(await Array.fromAsync(chunks)).toString()).toBe(content)
  expect(read).toBe(bytes.length)
})
