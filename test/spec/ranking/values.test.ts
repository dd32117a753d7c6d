/**
 * How token counts and times are read where the specification is silent (docs/specification.md, by its numbers), and what
 * becomes of a file that cannot be read whole.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BuildError } from '../../../pipeline/base/errors.ts'
import { dateOf, publishBeside, rejectsOf } from '../../support/counting.ts'
import { buildIn, crowd, newWorkspace, publish, publishedCsv, rowsOf, writeInput } from '../../support/pipeline.ts'
import { COLUMNS, writeRecords } from '../../support/records.ts'

describe('counting 8: a count is a non-negative integer up to 2^53 − 1', () => {
  it('rejects any other text in either column, which has zeros, a plus sign, spaces or zero decimals at most', async () => {
    const right = ['7', '007', '+7', ' 7', '7 ', '  +7.0  ', '7.000']
    const wrong = ['-1', '1.5', '1e3', '7.', '.0', '0x7', '1,000', '1_000', 'NaN', 'null', '\t7', '+ 7', '٧']
    const tooLarge = ['9007199254740992', '99999999999999999999999999']
    const counts = ['prompt_tokens', 'completion_tokens'].flatMap((column) => {
      return [...wrong, ...tooLarge].map((text) => ({ [column]: text }))
    })
    const records = [...counts, ...right.map((text) => ({ prompt_tokens: text }))]
    const built = await publishBeside(records.map((count) => ({ model_permaslug: 'a', ...count })))
    const rejects = (await rejectsOf(built)).map(({ record, reason }) => [counts[record - 1], reason])
    expect(rejects).toEqual(counts.map((count) => [count, 'invalid_token_count']))
    expect(built.rows).toEqual(['2025-03-02 a 49', '2025-03-02 bystander 1'])
    expect(built.summary.records.rejected).toEqual({ invalid_token_count: counts.length })
  })

  it('takes the value of a JSON number however it is written, and a text in a string, and rejects any other value', async () => {
    const numbers: [json: string, tokens: string][] = [
      ...['7', '7.0', '0.7e1', '"7"', '" +7.0 "'].map((json): [string, string] => [json, '7']),
      ['7e2', '700'],
      ['9007199254740991', '9007199254740991'],
    ]
    const wrong = ['-1', '1.5', '1e-1', '9007199254740992', '1e300', 'true', '[7]', '{"count":7}', '"7e2"']
    const values = [...numbers.map(([json]) => json), ...wrong]
    const workspace = await newWorkspace()
    const lines = values.map((json, index) => {
      return `{"timestamp":"${dateOf(index)}T12:00:00Z","model_permaslug":"a","prompt_tokens":${json},"completion_tokens":null}\n`
    })
    await writeInput(workspace, 'usage.ndjson', lines.join(''))
    const source = { name: 's', schema: 'canonical', files: ['usage.ndjson'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
    const { records } = await buildIn(workspace)
    expect(rowsOf(await publishedCsv(workspace))).toEqual(
      numbers.map(([, tokens], index) => `${dateOf(index)} a ${tokens}`),
    )
    const rejects = (await rejectsOf({ workspace })).map(({ record, reason }) => [values[record - 1], reason])
    expect(rejects).toEqual(wrong.map((json) => [json, 'invalid_token_count']))
    expect(records.rejected).toEqual({ invalid_token_count: wrong.length })
  })
})

describe('counting 9: a file that cannot be read whole fails the build and names the file', () => {
  /** Builds a source of one whole file and one that `damage` changed. */
  async function buildWith(name: string, damage: (bytes: Uint8Array) => Uint8Array): Promise<void> {
    const workspace = await newWorkspace()
    await writeRecords(
      join(workspace.input, 'whole.csv'),
      crowd(1, () => 1),
      { columns: COLUMNS },
    )
    const records = crowd(2000, (tokens) => tokens + 1)
    await writeRecords(join(workspace.input, name), records, { columns: COLUMNS })
    await writeInput(workspace, name, damage(await readFile(join(workspace.input, name))))
    const source = { name: 's', schema: 'canonical', files: ['whole.csv', name], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
    await buildIn(workspace)
  }

  // Others are in `test/raw/files/recognize.test.ts` and `test/raw/hostile.test.ts`.
  it.each([
    ['usage.ndjson.gz', 'without its trailer', (bytes) => bytes.subarray(0, -6)],
    ['usage.csv.zst', 'cut in half', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['usage.parquet', 'without its footer', (bytes) => bytes.subarray(0, -6)],
  ] satisfies [string, string, (bytes: Uint8Array) => Uint8Array][])('fails for %s %s', async (name, _, damage) => {
    const failed = expect(buildWith(name, damage)).rejects
    await failed.toThrow(BuildError)
    await failed.toThrow(name)
  })
})

describe('counting 13: timestamps are read in UTC, and no fraction rounds a record into the next day', () => {
  /** The dates of these timestamps, each that of a model of its own. The settings are those of their sources. */
  async function datesOf(
    ...sources: { timestamps: string[]; settings?: Record<string, unknown> }[]
  ): Promise<[timestamp: string, date: string][]> {
    const { rows } = await publish({
      sources: sources.map(({ timestamps, settings }) => ({
        records: timestamps.map((timestamp) => ({ timestamp, model_permaslug: timestamp, prompt_tokens: '1' })),
        settings,
      })),
      asOf: '2025-08-01T00:00:00Z',
    })
    return rows.map((row) => [row.slice(11, -' 1'.length), row.slice(0, 10)])
  }

  it('puts the last fraction of a day on that day, and takes offsets into account', async () => {
    const dates = {
      '2025-03-02T23:59:59Z': '2025-03-02',
      '2025-03-02T23:59:59.9Z': '2025-03-02',
      '2025-03-02T23:59:59.999Z': '2025-03-02',
      '2025-03-02T23:59:59.999999Z': '2025-03-02',
      '2025-03-02T23:59:59.9999999Z': '2025-03-02',
      '2025-03-02T23:59:59.999999999Z': '2025-03-02',
      '2025-03-02 23:59:59.9999999': '2025-03-02',
      '2025-03-03T07:59:59.999999999+08:00': '2025-03-02',
      '2025-03-03T00:00:00.000000001Z': '2025-03-03',
      '2025-03-03T00:00:00Z': '2025-03-03',
      '2025-03-03T00:00:00+08:00': '2025-03-02',
      '2025-03-03T08:00:00+08:00': '2025-03-03',
      '2025-03-02T18:59:59-05:00': '2025-03-02',
      '2025-03-02T19:00:00-05:00': '2025-03-03',
      '2025-03-03T05:29:59+05:30': '2025-03-02',
      '2025-03-03T05:30:00+05:30': '2025-03-03',
      '2025-03-03T13:59:59+14:00': '2025-03-02',
      '2025-03-02T12:00:00-12:00': '2025-03-03',
      '2025-03-02T23:59:59-00:01': '2025-03-03',
      // As Go's time.Time.String() writes them.
      '2025-03-02 23:59:59.999999999 +0000 UTC': '2025-03-02',
      '2025-03-02 23:59:59.999999999 +0000 UTC m=+0.001': '2025-03-02',
      '2025-03-02 19:00:00 -0500 EST': '2025-03-03',
      '2025-03-03 05:29:59.5 +0530 +0530': '2025-03-02',
      // The basic form of ISO 8601.
      '20250302T235959.999999999Z': '2025-03-02',
      '20250303T075959+0800': '2025-03-02',
      '20250303T0800+0800': '2025-03-03',
      '20250302T235959': '2025-03-02',
    }
    expect(Object.fromEntries(await datesOf({ timestamps: Object.keys(dates) }))).toEqual(dates)
  })

  it('reads a timestamp without an offset in the declared zone, but no date alone, and lets an offset win over it', async () => {
    const dates = {
      '2025-03-03 07:59:59': '2025-03-02',
      '2025-03-02T23:00:00Z': '2025-03-02',
      '20250303T075959': '2025-03-02',
      '2025-03-03': '2025-03-03',
    }
    const source = { timestamps: Object.keys(dates), settings: { timezone: 'Asia/Shanghai' } }
    expect(Object.fromEntries(await datesOf(source))).toEqual(dates)
  })

  it('keeps a relative timestamp after 23:00, in seconds or milliseconds, before midnight', async () => {
    const units = {
      seconds: ['3599.9999999', '3599.9999999999', '3599.9999999999995'],
      milliseconds: ['3599999.9999', '3599999.9999999999'],
    }
    const sources = Object.entries(units).map(([time_unit, timestamps]) => {
      return { timestamps, settings: { base_time: '2025-03-02T23:00:00Z', time_unit } }
    })
    expect(await datesOf(...sources)).toEqual(
      Object.values(units)
        .flat()
        .toSorted()
        .map((timestamp) => [timestamp, '2025-03-02']),
    )
  })

  it('rejects text that is not an instant', async () => {
    const timestamps = [
      '2025-02-30T12:00:00Z',
      '2025-13-01T12:00:00Z',
      '2025-03-02T25:00:00Z',
      '2025-03-02T12:60:00Z',
      '20250230T120000Z',
      '2025-03-02 12:00:00 UTC m=+0.1',
      'yesterday',
      '',
    ]
    const records = timestamps.map((timestamp) => ({ timestamp, model_permaslug: 'a', prompt_tokens: '5' }))
    const built = await publishBeside(records)
    const rejects = (await rejectsOf(built)).map(({ record, reason }) => [timestamps[record - 1], reason])
    expect(rejects).toEqual(timestamps.map((timestamp) => [timestamp, 'invalid_timestamp']))
    expect(built.rows).toEqual(['2025-03-02 bystander 1'])
    expect(built.summary.records.rejected).toEqual({ invalid_timestamp: timestamps.length })
  })
})
