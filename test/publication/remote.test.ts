/** `tokenboard verify URL` verifies what any static host publishes like a folder, and names files by their addresses. */
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { verifyUrl } from '../../pipeline/publication/verify-remote.ts'
import {
  copyWorkspace,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  runCli,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { release, type Use, verifyFolder } from '../support/releases.ts'
import { type Answer, type StaticHost, serveFolder, status, whole } from '../support/static-host.ts'

const DATASET = 'datasets/rankings-daily/v1'
const [FIRST, SECOND] = ['20250310T100000Z', '20250310T110000Z']
const INDEX = `${DATASET}/releases/index.json`
const CSV = `${DATASET}/releases/${SECOND}/rankings-daily.csv`
const CSV_GZIP = `${CSV}.gz`

let published: Workspace
/** What was published before the second release. */
let before = ''

beforeAll(async () => {
  published = await createWorkspace()
  for (const tokens of [5, 7]) {
    if (tokens === 7) {
      before = join(published.root, 'before')
      await cp(published.publicDir, before, { recursive: true, verbatimSymlinks: true })
    }
    await deliverTo(published, tokens, tokens === 5 ? '2025-03-10T10:00:00Z' : '2025-03-10T11:00:00Z')
  }
})

function deliverTo(workspace: Workspace, tokens: number, asOf: string): Promise<string> {
  return release(workspace, [['2025-02-28', 1], ['2025-03-02', tokens]], asOf) // biome-ignore format: rows
}

afterAll(() => removeWorkspace(published))

const IDLE_MS = 30_000

/** No waiting between attempts. */
function prove(url: string, { signal = new AbortController().signal } = {}) {
  const patience = { idleMs: IDLE_MS, waitsMs: [0, 0] }
  return verifyUrl(url, { signal, report: () => {}, onVerified: () => {}, patience })
}

/** A timer that only `pass` moves. */
class HandTimer {
  #left = IDLE_MS
  readonly #ring: () => void
  onRefresh = () => {}

  constructor(ring: () => void) {
    this.#ring = ring
  }

  refresh(): void {
    this.#left = IDLE_MS
    this.onRefresh()
  }

  pass(ms: number): void {
    this.#left -= ms
    if (this.#left <= 0) this.#ring()
  }
}

/**
 * The idle time of the fetch of one file, which goes on only when `pass` is called; that of other files stands still.
 * `taken` sends something and waits until the client has it, which starts the time anew.
 */
function idleClock(path: string) {
  const { setTimeout: wait, clearTimeout: clear, fetch: get } = globalThis
  let newest: HandTimer | undefined
  let running: HandTimer | undefined
  vi.stubGlobal('setTimeout', (ring: () => void, ms?: number) => {
    if (ms !== IDLE_MS) return wait(ring, ms)
    newest = new HandTimer(ring)
    return newest
  })
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout | HandTimer | undefined) => {
    if (!(timer instanceof HandTimer)) clear(timer)
  })
  vi.stubGlobal('fetch', (url: string, options: RequestInit) => {
    if (url.endsWith(path)) running = newest
    return get(url, options)
  })
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  return {
    async taken(send: () => void) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (running !== undefined) running.onRefresh = resolve
      send()
      await promise
    },
    pass: (ms: number) => running?.pass(ms),
  }
}

function hostWith(answers: Record<string, Answer>): Promise<StaticHost> {
  return serveFolder(published.publicDir, { answers })
}

/** Serves another folder from the answer to a path on. */
async function switchingHost(from: string, to: string, path: string, time = 1): Promise<StaticHost> {
  const switching: Answer = (response, bytes, count) => {
    if (count >= time) host.folder = to
    whole(response, bytes, count)
  }
  const host: StaticHost = await serveFolder(from, { answers: { [path]: switching } })
  return host
}

/** The middle byte with one bit turned. */
const broken: Answer = (response, bytes, count) => {
  const copy = Buffer.from(bytes)
  const middle = copy.length >> 1
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle)
  whole(response, copy, count)
}

describe('verify URL', () => {
  it('verifies as much as it does of the folder, with and without a slash at the end, and fetches immutable files once', async () => {
    const { url, requests } = await serveFolder(published.publicDir, { below: '/data/of/ours/' })
    const expected = await verifyFolder(published.publicDir)
    expect(await prove(url)).toEqual(expected)
    expect(requests.get(CSV)).toBe(1)
    expect(await prove(url.slice(0, -1))).toEqual(expected)
  })

  it('names the address of a file with one flipped bit, or that is missing', async () => {
    for (const path of [`releases/${FIRST}/quality.json`, 'monthly/2025-03.csv', 'latest/rankings-daily.csv']) {
      const { url } = await hostWith({ [`${DATASET}/${path}`]: broken })
      await expect(prove(url)).rejects.toThrow(`${url}${DATASET}/${path}`)
    }
    for (const path of [`releases/${FIRST}/manifest.json`, 'monthly/2025-03/r1.parquet', 'latest/SHA256SUMS']) {
      const { url } = await hostWith({ [`${DATASET}/${path}`]: status(404) })
      await expect(prove(url)).rejects.toThrow(`${url}${DATASET}/${path} is missing: the host answers 404`)
    }
  })

  it('asks for the address of the public folder when nothing is published at the given one', async () => {
    const { url } = await hostWith({})
    await expect(prove(`${url}datasets/`)).rejects.toThrow(
      `there is no ${url}datasets/${INDEX}; give the address of the folder that is published`,
    )
  })

  it('tries again after 500, 429 and a broken connection', async () => {
    const { url, requests } = await hostWith({
      [CSV]: status(500, 2),
      [CSV_GZIP]: status(429, 1),
      [INDEX]: (response, bytes, count) => {
        if (count > 1) return whole(response, bytes, count)
        response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 10), () => {
          response.destroy()
        })
      },
    })
    expect(await prove(url)).toMatchObject({ releases: 2 })
    expect(requests.get(CSV)).toBe(3)
  })

  it('gives up after three answers with 500, one with 403, and where nothing listens', async () => {
    for (const [code, times] of [
      [500, 3],
      [403, 1],
    ] as const) {
      // biome-ignore format: one line
      const { url, requests } = await hostWith({ [CSV]: status(code) })
      await expect(prove(url)).rejects.toThrow(`${url}${CSV} cannot be had: the host answers ${code}`)
      expect(requests.get(CSV)).toBe(times)
    }
    const { url } = await hostWith({})
    await expect(prove(url.replace(/:\d+/, ':1'))).rejects.toThrow(
      /http:\/\/127\.0\.0\.1:1\/\S+ cannot be fetched: .*(ECONNREFUSED|bad port)/,
    )
  })

  it('follows redirects', async () => {
    const { url } = await hostWith({
      [`${DATASET}/latest/rankings-daily.csv`]: (response) => {
        response.writeHead(302, { location: `/${CSV}` }).end()
      },
    })
    expect(await prove(url)).toMatchObject({ releases: 2 })
  })

  it('gives up on a host that stops sending', async () => {
    const clock = idleClock(CSV)
    const { url, requests } = await hostWith({
      [CSV]: async (response, bytes) => {
        const begin = response.writeHead(200, { 'content-length': bytes.length })
        await clock.taken(() => begin.write(bytes.subarray(0, 10)))
        clock.pass(IDLE_MS)
      },
    })
    await expect(prove(url)).rejects.toThrow(`${url}${CSV} sends nothing for 30 s`)
    expect(requests.get(CSV)).toBe(3)
  })

  it('waits for a slow host as long as it keeps sending', async () => {
    const clock = idleClock(CSV)
    const { url, requests } = await hostWith({
      [CSV]: async (response, bytes) => {
        response.writeHead(200, { 'content-length': bytes.length })
        const size = Math.ceil(bytes.length / 6)
        for (let start = 0; start < bytes.length; start += size) {
          await clock.taken(() => response.write(bytes.subarray(start, start + size)))
          if (start + size < bytes.length) clock.pass(IDLE_MS - 1)
        }
        response.end()
      },
    })
    expect(await prove(url)).toMatchObject({ releases: 2 })
    expect(requests.get(CSV)).toBe(1)
  })

  it('stops reading a file that is longer than the manifest says', async () => {
    const { url } = await hostWith({
      [CSV]: (response, bytes) => {
        response.writeHead(200).end(Buffer.concat([bytes, Buffer.alloc(1000)]))
      },
    })
    const { length } = await readFile(join(published.publicDir, CSV))
    await expect(prove(url)).rejects.toThrow(`${url}${CSV} is longer than the ${length} bytes that it should have`)
  })

  it('decodes a Content-Encoding, except one around a gzip file', async () => {
    const encoded: Answer = (response, bytes) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes))
    }
    expect(await prove((await hostWith({ [CSV]: encoded })).url)).toMatchObject({ releases: 2 })
    const { url } = await hostWith({ [CSV_GZIP]: encoded })
    await expect(prove(url)).rejects.toThrow(`${url}${CSV_GZIP} is sent with Content-Encoding gzip`)
  })

  it('starts over when a release is published meanwhile', async () => {
    const host = await switchingHost(before, published.publicDir, `${DATASET}/releases/${FIRST}/rankings-daily.csv`)
    expect(await prove(host.url)).toMatchObject({ releases: 2, latest: SECOND })
  })

  it('starts over without its copies when a new chain is published meanwhile', async () => {
    const workspace = await copyWorkspace(published)
    const uses: Use[] = [['2025-02-28', 9, 'b'], ['2025-03-02', 9, 'b']] // biome-ignore format: rows
    await release(workspace, uses, '2025-03-10T09:00:00Z', { newChain: true })
    // The last revision of the previous chain that is fetched: another one has its name.
    const last = `${DATASET}/monthly/2025-03/r1.parquet`
    const host = await switchingHost(published.publicDir, workspace.publicDir, last)
    expect(await prove(host.url)).toMatchObject({ releases: 1, latest: '20250310T090000Z' })
  })

  describe('after a withdrawal', () => {
    const day = `${DATASET}/daily/2025-03-02`
    const THIRD = '20250310T130000Z'
    let withdrawn: Workspace

    /** r1 is of the first release, r2 went with the withdrawn one, r3 is the first release again, r4 the third. */
    beforeAll(async () => {
      withdrawn = await createWorkspace()
      await cp(published.root, withdrawn.root, { recursive: true, verbatimSymlinks: true })
      await withdrawIn(withdrawn, SECOND, '2025-03-10T12:00:00Z')
      await deliverTo(withdrawn, 9, '2025-03-10T13:00:00Z')
    })

    afterAll(() => removeWorkspace(withdrawn))

    it('verifies what remains, whether the host answers 404 or 403 for the rest, and lists what was removed', async () => {
      const removed = ['daily/2025-03-02/r2', 'monthly/2025-03/r2']
      const { url, requests } = await serveFolder(withdrawn.publicDir)
      const summary = await prove(url)
      expect(summary).toMatchObject({ releases: 3, latest: THIRD, not_verified: removed })
      expect(requests.get(`${day}/r1.json`)).toBe(1)
      expect(summary).toEqual(await verifyFolder(withdrawn.publicDir))
      expect((await runCli(['verify', url], {})).stderr).toContain(
        'not verified: 2 revisions that went with a withdrawn release: daily/2025-03-02/r2, monthly/2025-03/r2\n',
      )
      const other = await serveFolder(withdrawn.publicDir, { missing: 403 })
      expect((await prove(other.url)).not_verified).toEqual(removed)
    })

    it('names the address of a superseded revision or a tombstone that is not as it was, and one that is missing', async () => {
      const tombstone = `${DATASET}/releases/${SECOND}/TOMBSTONE.json`
      const forged: Answer = (response, bytes, count) =>
        whole(response, Buffer.from(bytes.toString().replace('wrong', 'right')), count)
      for (const [answers, message] of [
        [{ [`${day}/r3.json`]: broken }, `${day}/r3.json`],
        [{ [tombstone]: forged }, `${tombstone} does not say what`],
        [{ [`${day}/r1.json`]: status(404) }, `${day}/r1.json is missing`],
        [{ [`${DATASET}/latest.json`]: status(403) }, `${DATASET}/latest.json cannot be had: the host answers 403`],
      ] as [Record<string, Answer>, string][]) {
        const { url } = await serveFolder(withdrawn.publicDir, { answers })
        await expect(prove(url)).rejects.toThrow(`${url}${message}`)
      }
    })

    it('starts over when a release is withdrawn meanwhile', async () => {
      const host = await switchingHost(published.publicDir, withdrawn.publicDir, `${DATASET}/latest.json`, 2)
      expect(await prove(host.url)).toMatchObject({ releases: 3, latest: THIRD })
    })
  })

  it('gives up on a host whose files change in each attempt', async () => {
    const restless: Answer = (response, bytes, count) => {
      whole(response, Buffer.concat([bytes, Buffer.alloc(count, ' ')]), count)
    }
    const { url, requests } = await hostWith({ [`${DATASET}/latest.json`]: restless })
    await expect(prove(url)).rejects.toThrow(`${url}${DATASET}/latest.json`)
    // Three attempts: each looks before and while it fetches, and but for the last one again when it has failed.
    expect(requests.get(`${DATASET}/latest.json`)).toBe(3 * 3 - 1)
  })

  it('rejects a coverage.json with more revisions than there are releases', async () => {
    const { url } = await hostWith({
      [`${DATASET}/coverage.json`]: (response, bytes, count) => {
        whole(response, Buffer.from(bytes.toString().replaceAll(/"revision": ?2/g, '"revision":2000000000')), count)
      },
    })
    await expect(prove(url)).rejects.toThrow(/tells of 2000000000 revisions of 2025-03-02/)
  })

  it('stops on its signal, and leaves no temporary files', async () => {
    const { root } = await newWorkspace()
    const scratch = join(root, 'input')
    vi.stubEnv('TMPDIR', scratch)
    const controller = new AbortController()
    const stopping: Answer = () => controller.abort()
    const { url } = await hostWith({ [CSV]: stopping })
    await expect(prove(url, { signal: controller.signal })).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    )
    await prove((await hostWith({})).url)
    vi.unstubAllEnvs()
    expect(await readdir(scratch)).toEqual([])
  })

  it.each([
    'ftp://example.org/',
    'https://user:password@example.org/',
    'https://example.org/?a=b',
    'https://example.org/#a',
  ])('refuses the address %s', async (url) => {
    await expect(prove(url)).rejects.toThrow(expect.objectContaining({ name: 'CliError' }))
  })

  it('prints the same for an address as for a folder, and fails with exit code 1', async () => {
    const { url } = await hostWith({})
    const remote = await runCli(['verify', url, '--json'], {})
    const local = await runCli(['verify', published.publicDir, '--json'], {})
    expect(remote).toEqual({ ...local, stderr: expect.stringContaining(`fetch: ${url}`) })
    expect(remote).toMatchObject({ code: 0, stdout: expect.stringContaining(`"latest":"${SECOND}"`) })
    const spoilt = await hostWith({ [CSV]: broken })
    const failed = await runCli(['verify', spoilt.url], {})
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`tokenboard: ${spoilt.url}${CSV} does not`),
    })
  })
})
