/** `tokenboard verify URL`: what any static host publishes is proved as a folder is, and named by its address. */
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { verify } from '../../pipeline/publication/verify.ts'
import { verifyUrl } from '../../pipeline/publication/verify-remote.ts'
import { copyOf, Gateway } from '../support/gateway.ts'
import {
  buildIn,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  runCli,
  type Workspace,
  withdrawIn,
  writeSmallBuild,
} from '../support/pipeline.ts'
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

async function deliverTo(workspace: Workspace, tokens: number, asOf: string): Promise<void> {
  const records = ['2025-02-28', '2025-03-02'].map((date) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: 'a',
    prompt_tokens: date === '2025-03-02' ? String(tokens) : '1',
  }))
  await writeSmallBuild(workspace, { sources: [{ records }] })
  await buildIn(workspace, asOf)
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

/** The middle byte with one bit turned. */
const broken: Answer = (response, bytes, count) => {
  const copy = Buffer.from(bytes)
  const middle = copy.length >> 1
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle)
  whole(response, copy, count)
}

describe('verify URL', () => {
  it('proves as much as verify proves of the folder, and fetches what never changes once', async () => {
    const { url, requests } = await hostWith({})
    const { signal } = new AbortController()
    expect(await prove(url)).toEqual(await verify(published.publicDir, { signal, report: () => {} }))
    expect(requests.get(CSV)).toBe(1)
  })

  it('proves a folder below a path, with and without a slash at the end', async () => {
    const { url } = await serveFolder(published.publicDir, { below: '/data/of/ours/' })
    expect(await prove(url.slice(0, -1))).toMatchObject({ releases: 2, latest: SECOND })
    expect(await prove(url)).toMatchObject({ releases: 2, latest: SECOND })
  })

  it.each([
    ['an older release', `${DATASET}/releases/${FIRST}/quality.json`],
    ['a Parquet file', `${DATASET}/releases/${SECOND}/rankings-daily.parquet`],
    ['the pointer to a revision', `${DATASET}/monthly/2025-03.csv`],
    ['the copy of the newest release', `${DATASET}/latest/rankings-daily.csv`],
    ['an answer of the API', 'api/v1/embeddings/models.json'],
  ])('names %s with one broken bit by its address', async (_what, path) => {
    const { url } = await hostWith({ [path]: broken })
    await expect(prove(url)).rejects.toThrow(`${url}${path}`)
  })

  it.each([
    ['manifest.json', `${DATASET}/releases/${FIRST}/manifest.json`],
    ['a revision', `${DATASET}/daily/2025-03-02/r1.parquet`],
    ['a file below latest/', `${DATASET}/latest/SHA256SUMS`],
  ])('names %s when it is missing', async (_what, path) => {
    const { url } = await hostWith({ [path]: status(404) })
    await expect(prove(url)).rejects.toThrow(`${url}${path} is missing: the host answers 404`)
  })

  it('says which address to give when nothing is published there', async () => {
    const { url } = await hostWith({})
    await expect(prove(`${url}datasets/`)).rejects.toThrow(
      `there is no ${url}datasets/${INDEX}; give the address of the folder that is published`,
    )
  })

  it('asks again after 500, 429 and a connection that broke', async () => {
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

  it('gives up on a host that answers 500 again and again', async () => {
    const { url, requests } = await hostWith({ [CSV]: status(500) })
    await expect(prove(url)).rejects.toThrow(
      `${url}${CSV} cannot be had: the host answers 500; it was asked for 3 times`,
    )
    expect(requests.get(CSV)).toBe(3)
  })

  it('does not ask again where the answer will be the same', async () => {
    const { url, requests } = await hostWith({ [CSV]: status(403) })
    await expect(prove(url)).rejects.toThrow(`${url}${CSV} cannot be had: the host answers 403`)
    expect(requests.get(CSV)).toBe(1)
  })

  it('says that nobody listens', async () => {
    const { url } = await hostWith({})
    const closed = url.replace(/:\d+/, ':1')
    await expect(prove(closed)).rejects.toThrow(
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

  it('gives up on a host that sends nothing more', async () => {
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

  it('waits for a host that is slow, as long as something comes', async () => {
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

  it('stops reading what is longer than the manifest says', async () => {
    const { url } = await hostWith({
      [CSV]: (response, bytes) => {
        response.writeHead(200).end(Buffer.concat([bytes, Buffer.alloc(1000)]))
      },
    })
    const { length } = await readFile(join(published.publicDir, CSV))
    await expect(prove(url)).rejects.toThrow(`${url}${CSV} is longer than the ${length} bytes that it should have`)
  })

  it('proves what comes out of a Content-Encoding, but not of one around a gzip file', async () => {
    const encoded: Answer = (response, bytes) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes))
    }
    expect(await prove((await hostWith({ [CSV]: encoded })).url)).toMatchObject({ releases: 2 })
    const { url } = await hostWith({ [CSV_GZIP]: encoded })
    await expect(prove(url)).rejects.toThrow(`${url}${CSV_GZIP} is sent with Content-Encoding gzip`)
  })

  it('begins again when a release came in the meantime', async () => {
    const switching: Answer = (response, bytes, count) => {
      host.folder = published.publicDir
      whole(response, bytes, count)
    }
    const host = await serveFolder(before, {
      answers: { [`${DATASET}/releases/${FIRST}/rankings-daily.csv`]: switching },
    })
    expect(await prove(host.url)).toMatchObject({ releases: 2, latest: SECOND })
  })

  it('begins again from nothing when a new chain took the place of the releases in the meantime', async () => {
    const { workspace } = await copyOf(new Gateway(published))
    const records = ['2025-02-28', '2025-03-02'].map((date) => {
      return { timestamp: `${date}T12:00:00Z`, model_permaslug: 'b', prompt_tokens: '9' }
    })
    await writeSmallBuild(workspace, { sources: [{ records }] })
    await buildIn(workspace, '2025-03-10T09:00:00Z', {}, { newChain: true })
    let host: StaticHost | undefined
    const switching: Answer = (response, bytes, count) => {
      if (host !== undefined) host.folder = workspace.publicDir
      whole(response, bytes, count)
    }
    // The last revision of the previous chain that is fetched: another one has its name.
    host = await serveFolder(published.publicDir, { answers: { [`${DATASET}/monthly/2025-03/r1.parquet`]: switching } })
    expect(await prove(host.url)).toMatchObject({ releases: 1, latest: '20250310T090000Z' })
  })

  it('passes over a release that was withdrawn, whose files are gone', async () => {
    const { workspace } = await copyOf(new Gateway(published))
    await withdrawIn(workspace, FIRST, '2025-03-10T12:00:00Z')
    const { url } = await serveFolder(workspace.publicDir)
    expect(await prove(url)).toMatchObject({ releases: 2, latest: SECOND })
    const tombstone = `${DATASET}/releases/${FIRST}/TOMBSTONE.json`
    const forged = await serveFolder(workspace.publicDir, {
      answers: {
        [tombstone]: (response, bytes, count) => {
          whole(response, Buffer.from(bytes.toString().replace('wrong', 'right')), count)
        },
      },
    })
    await expect(prove(forged.url)).rejects.toThrow(`${forged.url}${tombstone} does not say what`)
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

    it('proves the superseded revisions that are left, and names those that went with the withdrawn release', async () => {
      const { url, requests } = await serveFolder(withdrawn.publicDir)
      const summary = await prove(url)
      expect(summary).toMatchObject({ releases: 3, latest: THIRD })
      expect(summary.not_verified).toEqual(['daily/2025-03-02/r2', 'monthly/2025-03/r2'])
      expect(requests.get(`${day}/r1.json`)).toBe(1)
      const { signal } = new AbortController()
      expect(summary).toEqual(await verify(withdrawn.publicDir, { signal, report: () => {} }))
    })

    it('does the same on a host that answers 403 for what is not there', async () => {
      const { url } = await serveFolder(withdrawn.publicDir, { missing: 403 })
      expect((await prove(url)).not_verified).toEqual(['daily/2025-03-02/r2', 'monthly/2025-03/r2'])
    })

    it('says what the host answers where a file has to be there', async () => {
      const path = `${DATASET}/latest.json`
      const { url } = await serveFolder(withdrawn.publicDir, { answers: { [path]: status(403) } })
      await expect(prove(url)).rejects.toThrow(`${url}${path} cannot be had: the host answers 403`)
    })

    it.each(['r1.json', 'r3.csv'])('names %s with one broken bit', async (name) => {
      const { url } = await serveFolder(withdrawn.publicDir, { answers: { [`${day}/${name}`]: broken } })
      await expect(prove(url)).rejects.toThrow(`${url}${day}/${name}`)
    })

    it('names a format of a superseded revision that is missing', async () => {
      const { url } = await serveFolder(withdrawn.publicDir, { answers: { [`${day}/r1.parquet`]: status(404) } })
      await expect(prove(url)).rejects.toThrow(`${url}${day}/r1.parquet is missing`)
    })

    it('names a superseded revision of a release that stands and is missing in every format', async () => {
      const answers = Object.fromEntries(['csv', 'json', 'parquet'].map((form) => [`${day}/r1.${form}`, status(404)]))
      const { url } = await serveFolder(withdrawn.publicDir, { answers })
      await expect(prove(url)).rejects.toThrow(`${url}${day}/r1.json is missing`)
    })

    it('begins again when a release was withdrawn in the meantime', async () => {
      const switching: Answer = (response, bytes, count) => {
        host.folder = withdrawn.publicDir
        whole(response, bytes, count)
      }
      const host = await serveFolder(published.publicDir, {
        answers: {
          [`${DATASET}/latest.json`]: (response, bytes, count) =>
            (count === 1 ? whole : switching)(response, bytes, count),
        },
      })
      expect(await prove(host.url)).toMatchObject({ releases: 3, latest: THIRD })
    })

    it('says in words what it did not verify', async () => {
      const { url } = await serveFolder(withdrawn.publicDir)
      const { code, stderr } = await runCli(['verify', url], {})
      expect(code, stderr).toBe(0)
      expect(stderr).toContain(
        'not verified: 2 revisions that went with a withdrawn release: daily/2025-03-02/r2, monthly/2025-03/r2\n',
      )
    })
  })

  it('gives up on a host that is never at rest', async () => {
    const restless: Answer = (response, bytes, count) => {
      whole(response, Buffer.concat([bytes, Buffer.alloc(count, ' ')]), count)
    }
    const { url, requests } = await hostWith({ [`${DATASET}/latest.json`]: restless })
    await expect(prove(url)).rejects.toThrow(`${url}${DATASET}/latest.json`)
    // Three attempts: each looks before and while it fetches, and but for the last one again when it has failed.
    expect(requests.get(`${DATASET}/latest.json`)).toBe(3 * 3 - 1)
  })

  it('does not believe a coverage that tells of more revisions than there are releases', async () => {
    const { url } = await hostWith({
      [`${DATASET}/coverage.json`]: (response, bytes, count) => {
        whole(response, Buffer.from(bytes.toString().replaceAll(/"revision": ?2/g, '"revision":2000000000')), count)
      },
    })
    await expect(prove(url)).rejects.toThrow(/tells of 2000000000 revisions of 2025-03-02/)
  })

  it('stops when it is told to, and leaves nothing behind in any case', async () => {
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
  ])('refuses %s', async (url) => {
    await expect(prove(url)).rejects.toThrow(expect.objectContaining({ name: 'CliError' }))
  })

  it('is a command, whose argument may be a folder too', async () => {
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
