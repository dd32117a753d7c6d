import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { type SampleServer, serveSample } from './sample-site.ts'

const DATASET = '/datasets/rankings-daily/v1'

let server: SampleServer
let folder: string
let url: string
let manifest: Manifest

beforeAll(async () => {
  server = await serveSample()
  ;({ folder, url } = server)
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

  test('-r reads the parts of the Parquet file, the footer first, that add up to the whole', async () => {
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

  test('-C resumes an interrupted download', async () => {
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

  test('downloads every file of SHA256SUMS with its checksum', async () => {
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
