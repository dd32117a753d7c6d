/** A time stamp by an authority that runs here, checked by openssl as docs/decisions/0051-time-stamps.md shows it. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readTimeStamp, requestTimeStamp } from '../../pipeline/publication/time-stamp.ts'
import { temporaryFolder } from '../support/folder.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { isInstalled, skipLoudly } from './hosting.ts'

const isHere = isInstalled('openssl', 'version')
const SITE = Buffer.from('{"issued":"2026-11-20T00:12:00Z"}\n')
const MAKE = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority'
const USAGE = ['keyUsage=critical,digitalSignature', 'extendedKeyUsage=critical,timeStamping']
const SIGN = 'ts -reply -config tsa.cnf -section authority -signer authority.pem -inkey key.pem'
const SETTINGS = `[authority]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
`

const openssl = (folder: string, ...words: string[]) =>
  execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' }).toString()

/** Makes an authority with a certificate of its own, which answers until the test is over. */
async function startAuthority(folder: string): Promise<string> {
  const usage = USAGE.flatMap((text) => ['-addext', text])
  openssl(folder, ...MAKE.split(' '), ...usage, '-keyout', 'key.pem', '-out', 'authority.pem')
  await writeFile(join(folder, 'tsa.cnf'), SETTINGS)
  await writeFile(join(folder, 'serial'), '01\n')
  const server = createServer(async (request, response) => {
    await writeFile(join(folder, 'request.tsq'), await buffer(request))
    openssl(folder, ...SIGN.split(' '), '-queryfile', 'request.tsq', '-out', 'reply.tsr')
    const reply = readFileSync(join(folder, 'reply.tsr'))
    response.writeHead(200, { 'Content-Type': 'application/timestamp-reply' }).end(reply)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsr`
}

/** The command of the page. */
function documented(): string[] {
  const page = readFileSync(join(REPOSITORY, 'docs/decisions/0051-time-stamps.md'), 'utf8')
  const [, words] = /^openssl (ts -verify .*)$/m.exec(page) ?? []
  if (words === undefined) throw new Error('docs/decisions/0051-time-stamps.md has no command')
  return words.split(' ')
}

if (!isHere) {
  it('openssl is not installed here', ({ skip }) => {
    skipLoudly(skip, 'openssl is not installed, so no authority stamped anything')
  })
}

describe.runIf(isHere)('a time stamp by an authority', () => {
  it('is accepted by openssl for the bytes that were stamped, and refused for others', async () => {
    const folder = await temporaryFolder()
    const url = await startAuthority(folder)
    const tsr = await requestTimeStamp(url, SITE, { signal: new AbortController().signal })
    expect(readTimeStamp(tsr, SITE)).toEqual({ at: expect.stringMatching(/^20\d\d-.*Z$/), policy: '1.2.3.4.1' })

    await writeFile(join(folder, 'site.json'), SITE)
    await writeFile(join(folder, 'site.json.tsr'), tsr)
    expect(openssl(folder, ...documented())).toContain('Verification: OK')
    await appendFile(join(folder, 'site.json'), ' ')
    expect(() => openssl(folder, ...documented())).toThrow('message imprint mismatch')
  })
})
