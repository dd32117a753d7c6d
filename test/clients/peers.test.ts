/** The programs that `make bench` compares builds with, on a small input: they count the same tokens as a build. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { build } from '../bench/build.ts'
import { findPeers, type Peers, SUMMING } from '../bench/peers/peers.ts'
import { runNode } from '../bench/process.ts'
import { CSV, NDJSON, PARQUET, type RawFiles, WITH_IDS, writeDay, writeSources } from '../bench/records.ts'
import { skipLoudly } from '../system/hosting.ts'
import { runTool } from './tools.ts'

/** Fewer models than a day ranks, so that each has its row. */
const SMALL = { days: 4, recordsPerDay: 500, models: 20 }
const BENCH = join(import.meta.dirname, '../bench')

let folder: string
let peers: Peers

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-peers-'))
  peers = await findPeers()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Builds from small raw files; the tokens of each date and model. */
async function built(raw: RawFiles, name: string): Promise<{ files: string; sums: string[] }> {
  const into = join(folder, name)
  const files = join(into, 'raw')
  await mkdir(files, { recursive: true })
  for (let day = 0; day < raw.days; day += 1) await writeDay(files, day, raw)
  await writeSources(into)
  await build(into, join(into, 'built'), raw.days)
  const rankings = join(into, 'built/public/datasets/rankings-daily/v1/latest/rankings-daily.csv')
  return { files, sums: tokensOf(await readFile(rankings, 'utf8')) }
}

/** Lines such as `2025-01-01,author/model-0,123` of a CSV without commas in its values. */
function tokensOf(csv: string): string[] {
  const lines = csv.replaceAll('"', '').trim().split('\n').slice(1)
  return lines.map((line) => line.split(',').slice(0, 3).join()).sort()
}

describe.for([PARQUET, CSV, NDJSON].map((raw): RawFiles => ({ ...raw, ...SMALL })))('sums of $format', (raw) => {
  it('are those of a build', async (context) => {
    const { files, sums } = await built(raw, raw.format)
    expect(sums).toHaveLength(SMALL.days * SMALL.models)
    const out = join(folder, `${raw.format}.csv`)
    await runNode([join(BENCH, 'baseline.ts'), raw.format, files, out])
    expect(tokensOf(await readFile(out, 'utf8'))).toEqual(sums)
    if ('reason' in peers) return skipLoudly(context.skip, peers.reason)
    for (const { script } of SUMMING.filter(({ formats }) => formats.includes(raw.format))) {
      const { stdout, stderr } = await runTool(peers.python, [join(BENCH, 'peers', script), raw.format, files])
      expect(tokensOf(stdout), `${script}: ${stderr}`).toEqual(sums)
    }
  })
})

it('bare DuckDB without repeated ids has the sums of a build', async () => {
  const { files, sums } = await built({ ...WITH_IDS, ...SMALL }, 'ids')
  const out = join(folder, 'ids.csv')
  await runNode([join(BENCH, 'baseline.ts'), 'surplus', files, out])
  expect(tokensOf(await readFile(out, 'utf8'))).toEqual(sums)
})
