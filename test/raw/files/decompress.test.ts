import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { reasonOf } from '../../../pipeline/base/errors.ts'
import { openInput, openOnce } from '../../../pipeline/raw/files/decompress.ts'
import type { InputFile } from '../../../pipeline/raw/files/find.ts'

let path = ''

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  path = join(folder, 'a')
  return () => rm(folder, { recursive: true, force: true })
})

/** What reading a file gives, and how many stored bytes it tells of. */
async function readAs(file: Pick<InputFile, 'compression' | 'bytes'>): Promise<{ content: string; read: number }[]> {
  const results = []
  for (const open of [openInput, openOnce]) {
    let read = 0
    const onRead = (bytes: number) => {
      read += bytes
    }
    const chunks: Buffer[] = []
    try {
      const input = { path, name: 'a.csv', modified: 0n, format: 'csv', ...file } as const
      for await (const chunk of open(input, onRead)) chunks.push(Buffer.from(chunk))
      results.push({ content: Buffer.concat(chunks).toString('hex'), read })
    } catch (error) {
      results.push({ content: reasonOf(error), read: 0 })
    }
  }
  return results
}

const LARGE = 1_000_000

const piece = fc.oneof(
  fc.constantFrom('', 'a,b\n1,2\n', 'x'.repeat(700_000)).map((text) => gzipSync(text)),
  fc.constantFrom('', '\0\0', '\x1f', '\x1f\x8b', '\x1f\x8b\x08', 'a,b\n').map((text) => Buffer.from(text, 'latin1')),
)
const stored = fc
  .tuple(fc.array(piece, { maxLength: 3 }), fc.nat(40))
  .map(([pieces, cut]) => Buffer.concat(pieces).subarray(0, cut > 30 ? cut - 30 : undefined))

describe('a small file', () => {
  it('is read at once as it is read in a stream, with the same errors', async () => {
    await fc.assert(
      fc.asyncProperty(stored, fc.constantFrom('gzip', 'uncompressed'), async (bytes, compression) => {
        await writeFile(path, bytes)
        const [small, large] = [await readAs({ compression, bytes: 0 }), await readAs({ compression, bytes: LARGE })]
        expect(small).toEqual(large)
      }),
      { numRuns: 300 },
    )
  })

  it('is decompressed into pieces, so that what is too long is found', async () => {
    await writeFile(path, gzipSync('x'.repeat(LARGE)))
    const file = { path, name: 'a.csv', modified: 0n, format: 'csv', compression: 'gzip', bytes: 0 } as const
    const sizes = (await Array.fromAsync(openInput(file))).map(({ length }) => length)
    expect(Math.max(...sizes)).toBeLessThan(LARGE)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(LARGE)
  })
})
