/** A text file has the same hash, shape and faults in a thread as in the main program. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { describeFile } from '../../../pipeline/raw/files/find.ts'
import { readText, type TextContent } from '../../../pipeline/raw/files/text.ts'
import { TextThreads } from '../../../pipeline/raw/files/text-threads.ts'
import { sha256 } from '../../support/pipeline.ts'

const CSV = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n2025-03-02T12:00:00Z,a/b,1,2\n'
const NDJSON = '{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"a/b","prompt_tokens":1}\n'

let folder = ''
let threads: TextThreads

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  threads = new TextThreads(1)
  return async () => {
    await threads.close()
    await rm(folder, { recursive: true, force: true })
  }
})

const outcomeOf = (reading: Promise<TextContent>) => reading.catch((error: unknown) => ({ fault: String(error) }))

async function readTwice(name: string, content: string | Uint8Array) {
  const path = join(folder, name)
  await writeFile(path, content)
  const file = await describeFile(path, name)
  const text = { file, delimiter: file.format === 'csv' ? ',' : undefined }
  const own = await outcomeOf(readText(text, { signal: new AbortController().signal, onRead: () => {} }))
  expect(await outcomeOf(threads.read(text, () => {}))).toEqual(own)
  return own
}

it.each<[what: string, name: string, content: string | Uint8Array, text: string]>([
  ['CSV', 'a.csv', CSV, CSV],
  ['NDJSON with a byte order mark', 'a.ndjson', `\ufeff${NDJSON}`, `\ufeff${NDJSON}`],
  ['gzip', 'a.csv.gz', gzipSync(CSV), CSV],
  ['gzip of two members', 'a.csv.gz', Buffer.concat([gzipSync(CSV.slice(0, 90)), gzipSync(CSV.slice(90))]), CSV],
])('hashes the decompressed bytes of %s', async (_, name, content, text) => {
  expect(await readTwice(name, content)).toMatchObject({ sha256: sha256(text) })
})

it.each<[what: string, name: string, content: string | Uint8Array, fault: string]>([
  ['gzip that is cut', 'a.csv.gz', gzipSync(CSV).subarray(0, -9), 'unexpected end of file'],
  ['zeros after gzip', 'a.csv.gz', Buffer.concat([gzipSync(CSV), Buffer.alloc(512)]), 'there is data after'],
  ['a byte after gzip', 'a.ndjson.gz', Buffer.concat([gzipSync(NDJSON), Buffer.from('x')]), 'unexpected end'],
  ['a quote that is never closed', 'a.csv', `${CSV}2025-03-02T12:00:00Z,"a,1,2\n`, 'record 2 opens is never closed'],
])('refuses %s, and names the file', async (_, name, content, fault) => {
  const found = await readTwice(name, content)
  expect(found).toEqual({ fault: expect.stringContaining(fault) })
  expect(found).toEqual({ fault: expect.stringContaining(name) })
})
