/** Records whose date cannot be right: later than the day after today by the clock, or before 2015. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Effects } from '../../pipeline/base/effects.ts'
import { USAGE_FILE } from '../../pipeline/contract/usage.ts'
import { describeGiven, inspect } from '../../pipeline/raw/inspect.ts'
import { readRejects } from '../../pipeline/rollup/list-rejects.ts'
import { type Gateway, newGateway, use, useOn } from '../support/gateway.ts'
import { archiveIn, buildIn, publishedCsv, releaseFolder, rowsOf, sha256 } from '../support/pipeline.ts'
import type { FileRecord } from '../support/records.ts'
import { useSmallSample } from '../support/small-sample.ts'

useSmallSample()

/** By this clock 2025-03-11 is the last date that can be right. */
const CLOCK = '2025-03-10T12:00:00Z'
const GOOD = useOn('2025-03-02', 'acme/one', 1)

function at(timestamp: string, fields: FileRecord = {}): FileRecord {
  return use('acme/one', 1, { timestamp, ...fields })
}

function clock(time: string): Partial<Effects> {
  return { now: () => new Date(time) }
}

/** Builds a gateway as of a moment by the clock of that moment, or of another one. */
function buildAt({ workspace }: Gateway, asOf: string, time = asOf) {
  return buildIn(workspace, asOf, clock(time))
}

async function rejectsOf({ workspace }: Gateway): Promise<string[]> {
  const rejects = await Array.fromAsync(readRejects(workspace.dataDir))
  return rejects.map(({ file, record, reason }) => `${file} ${record} ${reason}`).sort()
}

async function gatewayOf(records: FileRecord[]): Promise<Gateway> {
  const gateway = await newGateway({ max_rejected_share: 1 })
  await gateway.deliver('a.csv', records)
  return gateway
}

async function readJson(folder: string, name: string) {
  return JSON.parse(await readFile(join(folder, name), 'utf8'))
}

const NOON = Date.parse('2025-03-02T12:00:00Z')
const MILLISECONDS = { base_time: '1970-01-01T00:00:00Z', time_unit: 'milliseconds' }

it('a wrong unit of time fails the build, which says what to check, until settings and file are corrected', async () => {
  const top = { on_missing: 'remove' }
  const gateway = await newGateway(top, MILLISECONDS)
  const failure = async (records: FileRecord[]) => {
    await gateway.deliver('wrong.csv', records)
    return gateway.failure(CLOCK)
  }
  const microseconds = Array.from({ length: 120 }, (_, index) => at(String((NOON + index) * (index < 90 ? 1 : 1000))))
  const message = await failure(microseconds)
  expect(message).toContain('30 of 120 records (25.00 %) were rejected')
  expect(message).toContain('raw/wrong.csv: 30 invalid_timestamp, dated 9999-12-31')
  expect(message).toContain('check "time_unit" and "base_time" of the source')
  expect(await rejectsOf(gateway)).toHaveLength(30)
  expect(await failure([at(String(NOON / 1000))])).toContain('raw/wrong.csv: 1 invalid_timestamp, dated 1970-01-21')
  await gateway.configure(top)
  expect(await failure([at(String(NOON))])).toContain(
    'raw/wrong.csv: 1 invalid_timestamp\nsome timestamps could not be read: numbers need "base_time" and "time_unit"',
  )
  await gateway.configure(top, { ...MILLISECONDS, time_unit: 'seconds' })
  await gateway.takeAway('wrong.csv')
  await gateway.deliver('right.csv', [at(String(NOON / 1000))])
  expect(await gateway.rows(CLOCK)).toEqual(['2025-03-02 acme/one 1'])
})

describe('records dated before 2015 or after tomorrow by the clock', () => {
  it('are rejected in every format, for that reason first, with dates in the private quality.json alone', async () => {
    const key = { api_key_hash: sha256('a key'), cost_usd: '1' }
    const gateway = await newGateway({ max_rejected_share: 1 })
    await gateway.deliver('a.csv', [
      { ...GOOD, ...key },
      at('2014-12-31T23:59:59.999999Z'),
      at('2015-01-01T00:00:00Z'),
      at('2025-03-11T23:59:59.999999Z'),
      at('2025-03-12T00:00:00Z', key),
      at('2031-01-01T00:00:00Z', { model_permaslug: '=x', prompt_tokens: '-1' }),
    ])
    const names = ['b.ndjson', 'c.parquet']
    for (const name of names)
      await gateway.deliver(name, [at('2031-01-01T00:00:00Z'), GOOD, at('2001-01-01T00:00:00Z')])
    const { records } = await buildAt(gateway, CLOCK)
    expect(records).toMatchObject({
      read: 12,
      published: 3,
      rejected: { invalid_timestamp: 7 },
      before_dataset_start: 1,
      not_yet_complete: 1,
    })
    expect(await rejectsOf(gateway)).toEqual([
      ...[2, 5, 6].map((record) => `raw/a.csv ${record} invalid_timestamp`),
      ...names.flatMap((name) => [1, 3].map((record) => `raw/${name} ${record} invalid_timestamp`)),
    ])
    const quality = await readJson(await releaseFolder(gateway.workspace), 'quality.json')
    const withoutDate = quality.days.filter(({ reason }: { reason: string }) => reason === 'invalid_timestamp')
    expect(withoutDate).toEqual([{ date: null, reason: 'invalid_timestamp', records: 7 }])
    const { outside, rejected_in_files } = await readJson(join(gateway.workspace.dataDir, 'state'), 'quality.json')
    expect(outside).toEqual([
      { date: '2015-01-01', reason: 'before_dataset_start', records: 1, tokens: '1' },
      { date: '2025-03-11', reason: 'not_yet_complete', records: 1, tokens: '1' },
    ])
    const misdated = { first_date: '2001-01-01', last_date: '2031-01-01' }
    expect(rejected_in_files).toContainEqual({
      ...{ source: 'gateway', file: 'raw/b.ndjson', reason: 'invalid_timestamp', records: 2 },
      misdated,
    })
    const usage = await readFile(join(gateway.workspace.dataDir, USAGE_FILE), 'utf8')
    expect(usage).toContain('2025-03-02')
    expect(usage).not.toContain('2025-03-12')

    const { signal } = new AbortController()
    const file = await describeGiven(gateway.path('b.ndjson'))
    const { notes } = await inspect(file, { now: () => new Date(CLOCK), signal })
    expect(notes).toContain('2 of the first 3 records would be rejected')
  })

  it('are rejected by the clock, whether AS_OF is in the past or the future', async () => {
    const late = at('2025-06-01T12:00:00Z')
    const gateway = await gatewayOf([GOOD, useOn('2025-03-09', 'acme/one', 1), at('2025-03-11T12:00:00Z'), late])
    const past = await buildAt(gateway, '2025-03-05T12:00:00Z', CLOCK)
    expect(past.records).toMatchObject({ published: 1, rejected: { invalid_timestamp: 1 }, not_yet_complete: 2 })
    const future = await buildAt(gateway, '2025-07-01T12:00:00Z', CLOCK)
    expect(future.records).toMatchObject({ published: 3, rejected: { invalid_timestamp: 1 } })
    // A file that has no others may go.
    await gateway.deliver('b.csv', [at('2031-01-01T00:00:00Z')])
    expect((await buildAt(gateway, '2025-07-01T13:00:00Z', CLOCK)).records.rejected).toEqual({ invalid_timestamp: 2 })
    await gateway.takeAway('b.csv')
    expect((await buildAt(gateway, '2025-07-01T14:00:00Z', CLOCK)).records.rejected).toEqual({ invalid_timestamp: 1 })
  })

  it('count once their date has come, without the file being read again', async () => {
    const future = [at('2025-03-20T12:00:00Z', { request_id: 'r' }), at('2025-03-20T13:00:00Z', { request_id: 'r' })]
    const gateway = await gatewayOf([GOOD, ...future])
    const before = await buildAt(gateway, CLOCK)
    expect(before.records).toMatchObject({ rejected: { invalid_timestamp: 2 }, duplicates: 0, published: 1 })
    expect(await rejectsOf(gateway)).toEqual(['raw/a.csv 2 invalid_timestamp', 'raw/a.csv 3 invalid_timestamp'])

    const events: string[] = []
    const after = await buildIn(gateway.workspace, '2025-03-21T12:00:00Z', {
      ...clock('2025-03-21T12:00:00Z'),
      report: (event) => events.push('stage' in event ? event.stage : ''),
    })
    expect(after.records).toMatchObject({ rejected: {}, duplicates: 1, published: 2 })
    expect(events).not.toContain('read gateway')
    expect(await rejectsOf(gateway)).toEqual([])
    expect(rowsOf(await publishedCsv(gateway.workspace))).toEqual(['2025-03-02 acme/one 1', '2025-03-20 acme/one 1'])
  })

  it('count as rejected if they are archived, and if they come later', async () => {
    const old = (id: string) => at('2001-01-01T00:00:00Z', { request_id: id })
    const gateway = await gatewayOf([GOOD, old('a'), useOn('2025-03-09', 'acme/one', 1)])
    await buildAt(gateway, CLOCK)
    await archiveIn(gateway.workspace, '2025-03-05', CLOCK, clock(CLOCK))
    const archived = await buildAt(gateway, '2025-03-10T13:00:00Z')
    expect(archived.records).toMatchObject({ published: 2, archived_date: 0, rejected: { invalid_timestamp: 1 } })
    await gateway.deliver('late.csv', [old('b'), useOn('2025-03-01', 'acme/one', 1)])
    const late = await buildAt(gateway, '2025-03-10T14:00:00Z')
    expect(late.records).toMatchObject({ published: 2, archived_date: 1, rejected: { invalid_timestamp: 2 } })
    expect(await rejectsOf(gateway)).toContain('raw/late.csv 1 invalid_timestamp')
    await gateway.configure({ max_rejected_share: 0.1 })
    await expect(buildAt(gateway, '2025-03-10T15:00:00Z')).rejects.toThrow(
      'raw/late.csv: 1 invalid_timestamp, dated 2001-01-01',
    )
  })
})

it('the synthetic sample has dates that can be right as of a moment after the clock', async () => {
  const { workspace } = await newGateway()
  await rm(workspace.sources)
  const sample = { ...workspace, sources: '' }
  const { synthetic, end_date, records } = await buildIn(sample, '2025-01-08T00:12:00Z', clock('2025-01-03T12:00:00Z'))
  expect({ synthetic, end_date }).toEqual({ synthetic: true, end_date: '2025-01-04' })
  const { invalid_timestamp = 0 } = records.rejected
  expect(invalid_timestamp).toBeLessThan(records.read / 100)
})
