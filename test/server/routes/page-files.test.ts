/** Which form of a page the server sends to whom, that it sends none of another text, and the policies that bind it. */
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { temporaryFolder, testApp } from '../../support/app.ts'

const TEXT = '<!doctype html><title>Tokens</title>\n'.repeat(60)
const BR = brotliCompressSync(TEXT)
const GZIP = gzipSync(TEXT)

async function site({ br = BR, gzip = GZIP }: { br?: Buffer; gzip?: Buffer } = {}) {
  const publicDir = await temporaryFolder()
  const at = (name: string) => join(publicDir, name)
  await writeFile(at('page.html'), TEXT)
  await writeFile(at('page.html.br'), br)
  await writeFile(at('page.html.gz'), gzip)
  const { app } = await testApp({ publicDir })
  const get = (encoding?: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({
      method,
      url: '/page.html',
      headers: { ...headers, ...(encoding === undefined ? {} : { 'accept-encoding': encoding }) },
    })
  return { at, get }
}

test.each([
  [undefined, undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['*', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0.5, identity', undefined],
  ['br;q=0, gzip;q=0', undefined],
  ['zstd', undefined],
])('Accept-Encoding %s gets %s, from disk and from memory', async (encoding, coding) => {
  const { get } = await site()
  const bytes = { br: BR, gzip: GZIP, none: Buffer.from(TEXT) }[coding ?? 'none']
  for (let times = 0; times < 2; times++) {
    const { headers, rawPayload } = await get(encoding)
    expect(headers['content-encoding']).toBe(coding)
    expect(rawPayload).toEqual(bytes)
    expect(headers.vary).toBe('Accept-Encoding')
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toContain("default-src 'self'")
    expect((await get(encoding, {}, 'HEAD')).headers).toMatchObject({ 'content-length': String(bytes?.length) })
  }
})

test('each form has its own strong tag, and a part is one of the text', async () => {
  const { get } = await site()
  const tags = await Promise.all([get(), get('br'), get('gzip')])
  const [plain = '', br = '', gzip = ''] = tags.map(({ headers }) => String(headers.etag))
  expect(new Set([plain, br, gzip]).size).toBe(3)
  for (const tag of [plain, br, gzip]) expect(tag).toMatch(/^"sha256-[0-9a-f]{64}"$/)
  expect((await get('br', { 'if-none-match': br })).statusCode).toBe(304)
  expect((await get('br', { 'if-none-match': gzip })).statusCode).toBe(200)
  const part = await get('br, gzip', { range: 'bytes=0-8' })
  expect([part.statusCode, part.body, part.headers.etag]).toEqual([206, '<!doctype', plain])
})

test('a form of another text is not sent, nor one that is damaged', async () => {
  const { get } = await site({ br: brotliCompressSync('old'), gzip: GZIP.subarray(0, 20) })
  const { headers, body } = await get('br, gzip')
  expect([headers['content-encoding'], headers.vary, body]).toEqual([undefined, undefined, TEXT])
})

test('once the text has changed, its old forms are not sent any more, and its new ones are', async () => {
  const { at, get } = await site()
  await get('br')
  await writeFile(at('new'), TEXT.toUpperCase())
  await rename(at('new'), at('page.html'))
  expect((await get('br')).body).toBe(TEXT.toUpperCase())
  await writeFile(at('new'), brotliCompressSync(TEXT.toUpperCase()))
  await rename(at('new'), at('page.html.br'))
  expect((await get('br')).rawPayload).toEqual(brotliCompressSync(TEXT.toUpperCase()))
  expect((await get('gzip')).headers['content-encoding']).toBeUndefined()
})

test('other sites may show embed.html in a frame, and no other page', async () => {
  const publicDir = await temporaryFolder()
  const { app } = await testApp({ publicDir })
  const policyOf = async (name: string) => {
    await writeFile(join(publicDir, name), TEXT)
    return (await app.inject({ url: `/${name}` })).headers['content-security-policy']
  }
  expect(await policyOf('embed.html')).toContain('frame-ancestors *;')
  expect(await policyOf('index.html')).toContain("frame-ancestors 'self';")
  expect(await policyOf('embed.html')).toContain("default-src 'self';")
})
