/** `make bench` at a tiny size: that it runs, not how fast. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readReports, titleOf } from '../bench/report.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { environment, run } from './clone.ts'

const BENCH = join(REPOSITORY, 'test/bench')

it('measures a suite, and keeps what was measured', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
  const kept = join(folder, 'results.json')
  const env = { ...environment(), TMPDIR: folder, BENCH_SCALE: '0.005' }
  const words = [join(BENCH, 'bench.ts'), 'day', '--rounds', '1', '--json', kept]
  const { code, stdout, stderr } = await run(process.execPath, words, { cwd: REPOSITORY, env })
  expect(code, stderr).toBe(0)
  const [report] = await readReports(kept)
  expect(report?.results.map(titleOf)).toEqual([
    'slope of days: a further day in a full build, from 2 to 4 days, against bare DuckDB, which only reads its file',
    'one new day of 300 records on 4 days, against a full build of these days',
    'nothing new on 4 days, against tokenboard --version',
  ])
  for (const { name, ours, details, measured } of report?.results ?? []) {
    expect(ours.median, name).not.toBeNaN()
    expect(details, name).toMatchObject({ wall_s: {}, peak_mib: {} })
    expect(measured).toMatchObject({ scale: 0.005 })
    expect(stdout).toContain(`| ${name} | **`)
  }
})

it('moves the clock of a measured program to AS_OF where that lies ahead', async () => {
  const year = async (asOf: string) => {
    const words = ['--import', join(BENCH, 'clock.ts'), '-p', 'new Date().getFullYear() + new Date(0).getUTCFullYear()']
    return Number((await run(process.execPath, words, { cwd: REPOSITORY, env: { AS_OF: asOf } })).stdout)
  }
  expect(await year('2130-06-01T00:00:00Z')).toBe(2130 + 1970)
  expect(await year('2025-06-01T00:00:00Z')).toBe(new Date().getFullYear() + 1970)
})
