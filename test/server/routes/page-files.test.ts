/** Which form of a page the server sends to whom, that it sends none of another text, and the policies that bind it. */
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { temporaryFolder, testApp } from '../../support/app.ts'

const TEXT = '<!doctype html><title>Tokens</title>\n'.repeat(60)
const GZIP = gzipSync(TEXT)

async function site(gzip = GZIP) {
  const publicDir = await temporaryFolder()
  const at = (name: string) => join(publicDir, name)
  await writeFile(at('page.html'), TEXT)
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
  ['gzip, deflate, br, zstd', 'gzip'],
  ['br', undefined],
  ['gzip', 'gzip'],
  ['*', 'gzip'],
  ['gzip;q=0.5, identity', undefined],
  ['*, gzip;q=0', undefined],
  ['zstd', undefined],
])('Accept-Encoding %s gets %s, from disk and from memory', async (encoding, coding) => {
  const { get } = await site()
  const bytes = coding === 'gzip' ? GZIP : Buffer.from(TEXT)
  for (let times = 0; times < 2; times++) {
    const { headers, rawPayload } = await get(encoding)
    expect(headers['content-encoding']).toBe(coding)
    expect(rawPayload).toEqual(bytes)
    expect(headers.vary).toBe('Accept-Encoding')
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toContain("default-src 'self'")
    expect((await get(encoding, {}, 'HEAD')).headers).toMatchObject({ 'content-length': String(bytes.length) })
  }
})

test('a form of another text is not sent, nor one that is damaged', async () => {
  for (const wrong of [gzipSync('old'), GZIP.subarray(0, 20)]) {
    const { headers, body } = await (await site(wrong)).get('gzip')
    expect([headers['content-encoding'], headers.vary, body]).toEqual([undefined, undefined, TEXT])
  }
})

test('once the text has changed, its old forms are not sent any more, and its new ones are', async () => {
  const { at, get } = await site()
  await get('gzip')
  await writeFile(at('new'), TEXT.toUpperCase())
  await rename(at('new'), at('page.html'))
  expect((await get('gzip')).body).toBe(TEXT.toUpperCase())
  await writeFile(at('new'), gzipSync(TEXT.toUpperCase()))
  await rename(at('new'), at('page.html.gz'))
  expect((await get('gzip')).rawPayload).toEqual(gzipSync(TEXT.toUpperCase()))
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
