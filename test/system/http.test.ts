import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { type SampleServer, serveSample } from './sample-site.ts'

const DATASET = '/datasets/rankings-daily/v1'
const ORIGIN = { origin: 'https://notebook.example' }

let server: SampleServer
let folder: string
let url: string
let key: string
let manifest: Manifest

beforeAll(async () => {
  server = await serveSample()
  ;({ folder, url, key } = server)
  manifest = (await (await fetch(`${url}${DATASET}/latest/manifest.json`)).json()) as Manifest
})

afterAll(() => server?.stop())

async function curl(...words: string[]): Promise<Buffer> {
  const { stdout } = await promisify(execFile)('curl', ['-sS', '--fail', ...words], { cwd: folder, encoding: 'buffer' })
  return stdout
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function listed(name: string) {
  const file = manifest.files.find(({ path }) => path === name)
  if (file === undefined) throw new Error(`the manifest does not list ${name}`)
  return file
}

describe('curl', () => {
  const parquet = () => `${url}${DATASET}/latest/rankings-daily.parquet`

  test('-r reads the parts of the Parquet file that a reader starts with, and all of them', async () => {
    expect((await curl('-r', '0-3', parquet())).toString()).toBe('PAR1')
    const end = await curl('-r', '-8', parquet())
    expect(end.subarray(4).toString()).toBe('PAR1')
    const footer = await curl('-r', `-${end.readUInt32LE(0) + 8}`, parquet())
    expect(footer.subarray(-8)).toEqual(end)
    expect(footer.length).toBeGreaterThan(8)
    const middle = Math.floor(listed('rankings-daily.parquet').bytes / 2)
    const parts = [await curl('-r', `0-${middle}`, parquet()), await curl('-r', `${middle + 1}-`, parquet())]
    expect(sha256(Buffer.concat(parts))).toBe(listed('rankings-daily.parquet').sha256)
  })

  test('-C resumes a download that was cut', async () => {
    const path = join(folder, 'cut.parquet')
    await curl('-o', path, parquet())
    await truncate(path, 1000)
    await curl('-C', '-', '-o', path, parquet())
    expect(sha256(await readFile(path))).toBe(listed('rankings-daily.parquet').sha256)
  })

  test('--compressed gets the same CSV in fewer bytes', async () => {
    const csv = `${url}${DATASET}/latest/rankings-daily.csv`
    expect(sha256(await curl('--compressed', csv))).toBe(listed('rankings-daily.csv').sha256)
    const size = (...words: string[]) => curl('-o', '/dev/null', '-w', '%{size_download}', ...words, csv)
    expect(Number(await size('--compressed'))).toBe(listed('rankings-daily.csv.gz').bytes)
    expect(Number(await size())).toBe(listed('rankings-daily.csv').bytes)
  })

  test('gets every file that SHA256SUMS has, as it is there', async () => {
    const sums = await curl(`${url}${DATASET}/latest/SHA256SUMS`)
    await writeFile(join(folder, 'SHA256SUMS'), sums)
    for (const line of sums.toString().trimEnd().split('\n')) {
      const name = line.slice(66)
      await curl('-o', name, `${url}${DATASET}/latest/${name}`)
    }
    const { stdout } = await promisify(execFile)('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder })
    expect(stdout.match(/: OK\n/g)?.length).toBeGreaterThanOrEqual(manifest.files.length)
  })
})

describe('fetch from another origin', () => {
  test('may ask for a part of the Parquet file and read what it was told of it', async () => {
    const file = `${url}${DATASET}/latest/rankings-daily.parquet`
    const preflight = await fetch(file, {
      method: 'OPTIONS',
      headers: { ...ORIGIN, 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(/\brange\b/)

    const answer = await fetch(file, { headers: { ...ORIGIN, range: 'bytes=0-3' } })
    expect([answer.status, await answer.text()]).toEqual([206, 'PAR1'])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(', ') ?? []
    for (const [name, value] of [
      ['content-range', `bytes 0-3/${listed('rankings-daily.parquet').bytes}`],
      ['etag', `"sha256-${listed('rankings-daily.parquet').sha256}"`],
      ['content-location', `${DATASET}/releases/${manifest.release}/rankings-daily.parquet`],
      ['accept-ranges', 'bytes'],
    ]) {
      expect(answer.headers.get(name ?? '')).toBe(value)
      expect(exposed).toContain(name)
    }
  })

  test('reads the CSV compressed on the way, and costs a 304 the next time', async () => {
    const csv = `${url}${DATASET}/latest/rankings-daily.csv`
    const answer = await fetch(csv, { headers: { ...ORIGIN, 'accept-encoding': 'gzip' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(sha256(await answer.bytes())).toBe(listed('rankings-daily.csv').sha256)
    const etag = answer.headers.get('etag') ?? ''
    const again = await fetch(csv, { headers: { ...ORIGIN, 'accept-encoding': 'gzip', 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  test('gets from the API the rows that are published, in each form, and the hash of them', async () => {
    const rankings = async (query: string, accept = 'application/json') => {
      const headers = { ...ORIGIN, accept, authorization: `Bearer ${key}` }
      const answer = await fetch(`${url}/api/v1/datasets/rankings-daily?start_date=2025-01-01${query}`, { headers })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-content-hash')).toBe(manifest.content_hash)
      return answer
    }
    expect(`sha256:${sha256(await (await rankings('', 'text/csv')).bytes())}`).toBe(manifest.content_hash)
    const lines = (await (await rankings('&format=ndjson')).text()).trimEnd().split('\n')
    const { data } = (await (await rankings(`&as_of=${manifest.release}`)).json()) as { data: object[] }
    expect(data).toHaveLength(manifest.rows)
    expect(lines).toEqual(data.map((row) => JSON.stringify(row)))
  })
})
