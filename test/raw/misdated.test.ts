/** Records whose date cannot be right (DESIGN.md §6.10): later than the day after today by the clock, or before 2015. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Effects } from '../../pipeline/base/effects.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { build } from '../../pipeline/build.ts'
import { USAGE_FILE } from '../../pipeline/contract/usage.ts'
import { inspect } from '../../pipeline/raw/inspect.ts'
import { archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import { readRejects } from '../../pipeline/rollup/list-rejects.ts'
import { type Gateway, newGateway, use, useOn } from '../support/gateway.ts'
import { buildIn, publishedCsv, releaseFolder, rowsOf, settings, sha256, writeInput } from '../support/pipeline.ts'
import type { FileRecord } from '../support/records.ts'
import { useSmallSample } from '../support/small-sample.ts'

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

async function gatewayOf(records: FileRecord[], name = 'a.csv'): Promise<Gateway> {
  const gateway = await newGateway({ max_rejected_share: 1 })
  await gateway.deliver(name, records)
  return gateway
}

async function readJson(folder: string, name: string) {
  return JSON.parse(await readFile(join(folder, name), 'utf8'))
}

describe('a wrong unit of time', () => {
  it('fails the build where microseconds are read as milliseconds, and says what to check', async () => {
    const gateway = await newGateway({}, { base_time: '1970-01-01T00:00:00Z', time_unit: 'milliseconds' })
    const noon = Date.parse('2025-03-02T12:00:00Z')
    const right = Array.from({ length: 90 }, (_, index) => at(String(noon + index)))
    const wrong = Array.from({ length: 30 }, (_, index) => at(String((noon + index) * 1000)))
    await gateway.deliver('a.csv', [...right, ...wrong])
    const failed = buildAt(gateway, CLOCK)
    await expect(failed).rejects.toThrow(BuildError)
    await expect(failed).rejects.toThrow('30 of 120 records (25.00 %) were rejected')
    await expect(failed).rejects.toThrow('raw/a.csv: 30 invalid_timestamp, dated 9999-12-31')
    await expect(failed).rejects.toThrow('check "time_unit" and "base_time" of the source')
    expect(await rejectsOf(gateway)).toHaveLength(30)
  })

  it('says what to check where timestamps are numbers and the source has no time_unit', async () => {
    const gateway = await newGateway()
    await gateway.deliver('a.csv', [at(String(Date.parse('2025-03-02T12:00:00Z')))])
    await expect(buildAt(gateway, CLOCK)).rejects.toThrow(
      'raw/a.csv: 1 invalid_timestamp\nsome timestamps could not be read: numbers need "base_time" and "time_unit"',
    )
  })

  it('fails the build where seconds are read as milliseconds', async () => {
    const gateway = await newGateway({}, { base_time: '1970-01-01T00:00:00Z', time_unit: 'milliseconds' })
    await gateway.deliver('a.csv', [at(String(Date.parse('2025-03-02T12:00:00Z') / 1000))])
    await expect(buildAt(gateway, CLOCK)).rejects.toThrow('raw/a.csv: 1 invalid_timestamp, dated 1970-01-21')
  })

  it('is corrected by a correct sources file, or by a file of another name', async () => {
    const gateway = await newGateway({}, { base_time: '1970-01-01T00:00:00Z', time_unit: 'milliseconds' })
    await gateway.deliver('a.csv', [at(String(Date.parse('2025-03-02T12:00:00Z') / 1000))])
    await expect(buildAt(gateway, CLOCK)).rejects.toThrow(BuildError)
    await gateway.configure({}, { base_time: '1970-01-01T00:00:00Z', time_unit: 'seconds' })
    await buildAt(gateway, CLOCK)
    expect(rowsOf(await publishedCsv(gateway.workspace))).toEqual(['2025-03-02 acme/one 1'])

    const other = await newGateway()
    await other.deliver('wrong.csv', [at('1970-01-21T00:00:00Z')])
    await expect(buildAt(other, CLOCK)).rejects.toThrow(BuildError)
    await other.takeAway('wrong.csv')
    await other.deliver('right.csv', [GOOD])
    await buildAt(other, CLOCK)
  })
})

describe('the dates that can be right', () => {
  it('are those from 2015 on to the day after today by the clock', async () => {
    const gateway = await gatewayOf([
      GOOD,
      at('2014-12-31T23:59:59.999999Z'),
      at('2015-01-01T00:00:00Z'),
      at('2025-03-11T23:59:59.999999Z'),
      at('2025-03-12T00:00:00Z'),
    ])
    const { records } = await buildAt(gateway, CLOCK)
    expect(records).toMatchObject({
      read: 5,
      published: 1,
      rejected: { invalid_timestamp: 2 },
      before_dataset_start: 1,
      not_yet_complete: 1,
    })
    expect(await rejectsOf(gateway)).toEqual(['raw/a.csv 2 invalid_timestamp', 'raw/a.csv 5 invalid_timestamp'])
    const { outside } = await readJson(join(gateway.workspace.dataDir, 'state'), 'quality.json')
    expect(outside).toEqual([
      { date: '2015-01-01', reason: 'before_dataset_start', records: 1, tokens: '1' },
      { date: '2025-03-11', reason: 'not_yet_complete', records: 1, tokens: '1' },
    ])
  })

  it('do not end with an AS_OF in the past: later records are of days not yet complete', async () => {
    const gateway = await gatewayOf([GOOD, useOn('2025-03-09', 'acme/one', 1), at('2025-03-11T12:00:00Z')])
    const { records } = await buildAt(gateway, '2025-03-05T12:00:00Z', CLOCK)
    expect(records).toMatchObject({ read: 3, published: 1, rejected: {}, not_yet_complete: 2 })
  })

  it('do not extend to an AS_OF in the future', async () => {
    const gateway = await gatewayOf([GOOD, at('2025-06-01T12:00:00Z')])
    const { records } = await buildAt(gateway, '2025-07-01T12:00:00Z', CLOCK)
    expect(records).toMatchObject({ published: 1, rejected: { invalid_timestamp: 1 } })
  })

  it('are asked for by inspect too', async () => {
    const gateway = await gatewayOf([GOOD, at('2014-12-31T12:00:00Z'), at('2025-03-12T00:00:00Z')])
    const signal = new AbortController().signal
    const [inspection] = await inspect([gateway.path('a.csv')], { now: () => new Date(CLOCK), signal })
    expect(inspection?.records.map(({ reject_reason }) => reject_reason)).toEqual([
      null,
      'invalid_timestamp',
      'invalid_timestamp',
    ])
    expect(inspection?.notes).toContain('2 of the first 3 records would be rejected')
  })
})

describe('a date that lies in the future', () => {
  it('is counted when it has come, without the file being read again', async () => {
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

  it('does not stop the build when its file is missing', async () => {
    const gateway = await gatewayOf([GOOD])
    await gateway.deliver('b.csv', [at('2031-01-01T00:00:00Z')])
    await buildAt(gateway, CLOCK)
    await gateway.takeAway('b.csv')
    const { records } = await buildAt(gateway, '2025-03-10T13:00:00Z')
    expect(records.rejected).toEqual({})
  })

  it('is in the usage of no key', async () => {
    const api_key_hash = sha256('a key')
    const key = { api_key_hash, cost_usd: '1' }
    const gateway = await gatewayOf([{ ...GOOD, ...key }, at('2031-01-01T00:00:00Z', key)])
    await buildAt(gateway, CLOCK)
    const usage = await readFile(join(gateway.workspace.dataDir, USAGE_FILE), 'utf8')
    expect(usage).toContain('2025-03-02')
    expect(usage).not.toContain('2031')
  })
})

describe('misdated records', () => {
  it.each(['a.csv', 'a.ndjson', 'a.parquet'])('are kept with file and number, in %s', async (name) => {
    const gateway = await gatewayOf([at('2031-01-01T00:00:00Z'), GOOD, at('2001-01-01T00:00:00Z')], name)
    await buildAt(gateway, CLOCK)
    expect(await rejectsOf(gateway)).toEqual([`raw/${name} 1 invalid_timestamp`, `raw/${name} 3 invalid_timestamp`])
  })

  it('are one count without a date in the public quality.json, and have their dates in the private one', async () => {
    const gateway = await gatewayOf([GOOD, at('2031-01-01T00:00:00Z'), at('2032-01-01T00:00:00Z')])
    await buildAt(gateway, CLOCK)
    const quality = await readJson(await releaseFolder(gateway.workspace), 'quality.json')
    expect(quality.days).toEqual([{ date: null, reason: 'invalid_timestamp', records: 2 }])
    const detail = await readJson(join(gateway.workspace.dataDir, 'state'), 'quality.json')
    expect(detail.rejected_in_files).toEqual([
      {
        source: 'gateway',
        file: 'raw/a.csv',
        reason: 'invalid_timestamp',
        records: 2,
        misdated: { first_date: '2031-01-01', last_date: '2032-01-01' },
      },
    ])
  })

  it('are rejected for that first, whatever else is wrong with them', async () => {
    const gateway = await gatewayOf([GOOD, at('2031-01-01T00:00:00Z', { model_permaslug: '=x', prompt_tokens: '-1' })])
    const { records } = await buildAt(gateway, CLOCK)
    expect(records.rejected).toEqual({ invalid_timestamp: 1 })
    expect(await rejectsOf(gateway)).toEqual(['raw/a.csv 2 invalid_timestamp'])
  })

  it('count as rejected when their dates are archived, and when they come later', async () => {
    const old = (id: string) => at('2001-01-01T00:00:00Z', { request_id: id })
    const gateway = await gatewayOf([GOOD, old('a'), useOn('2025-03-09', 'acme/one', 1)])
    await buildAt(gateway, CLOCK)
    const config = readPipelineConfig(settings(gateway.workspace, CLOCK))
    const { signal } = new AbortController()
    const effects = { now: () => new Date(CLOCK), report: () => {}, signal, files: realFiles }
    await archiveDates(config, effects, { before: '2025-03-05' })
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

  it('count as rows in the share of sums that another engine wrote', async () => {
    const gateway = await newGateway()
    const header = 'utc_date,model_permaslug,tokens,requests\n'
    const good = [2, 3, 4].map((day) => `2025-03-0${day},acme/one,1,1\n`).join('')
    await writeInput(gateway.workspace, 'sums.csv', `${header}${good}2031-01-01,acme/one,1,1000000\n`)
    const engine = { rollup_files: ['sums.csv'], visibility: 'public' }
    await writeInput(gateway.workspace, 'sources.json', { engine, max_rejected_share: 0.24 })
    await expect(buildAt(gateway, CLOCK)).rejects.toThrow('1 of 4 rows (25.00 %) were rejected')
  })
})

describe('the synthetic sample', () => {
  useSmallSample()

  it('is built as of a moment after the clock: its units are right', async () => {
    const { workspace } = await newGateway()
    await rm(workspace.sources)
    const config = readPipelineConfig({ ...settings(workspace, '2025-01-08T00:12:00Z'), SOURCES: '' })
    const { signal } = new AbortController()
    const effects = { now: () => new Date('2025-01-03T12:00:00Z'), report: () => {}, signal, files: realFiles }
    const { synthetic, end_date, records } = await build(config, effects)
    expect({ synthetic, end_date }).toEqual({ synthetic: true, end_date: '2025-01-07' })
    const { invalid_timestamp = 0 } = records.rejected
    expect(invalid_timestamp).toBeLessThan(records.read / 100)
  })
})
