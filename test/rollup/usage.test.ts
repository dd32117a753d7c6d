/** What each API key used, summed from the raw records into a private file (API.md § GET /key). */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { compareCodePoints, isModelSlug, parseTimestamp } from '../support/oracle.ts'
import {
  buildIn,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  snapshotTree,
  type Workspace,
  writeInput,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { COLUMNS, type FileRecord, query, sqlText, writeRecords } from '../support/records.ts'
import { HASH_A, HASH_B, readUsageOf, type UsageRow } from '../support/usage.ts'

const KEY_COLUMNS = ['api_key_hash', 'cost_usd', 'is_byok']
const BYSTANDER = { timestamp: '2025-03-01T00:00:00Z', model_permaslug: 'bystander', prompt_tokens: '1' }
const charge = (fields: FileRecord = {}): FileRecord => ({
  model_permaslug: 'acme/one',
  prompt_tokens: '1',
  api_key_hash: HASH_A,
  cost_usd: '1.25',
  ...fields,
})

interface BuiltUsage {
  rows: UsageRow[]
  notices: string[]
  workspace: Workspace
}

/** Builds one NDJSON source, with a record beside it that can always be published. */
async function usageOf(records: FileRecord[], settings: Record<string, unknown> = {}): Promise<BuiltUsage> {
  const workspace = await newWorkspace()
  const source = { records: [BYSTANDER, ...records], settings, extraColumns: KEY_COLUMNS }
  await writeSmallBuild(workspace, { sources: [source], top: { max_rejected_share: 1 } })
  return { ...(await buildAndRead(workspace)), workspace }
}

async function buildAndRead(workspace: Workspace): Promise<{ rows: UsageRow[]; notices: string[] }> {
  const events: BuildEvent[] = []
  await buildIn(workspace, undefined, { report: (event) => events.push(event) })
  const notices = events.flatMap((event) => (event.kind === 'notice' ? [event.message] : []))
  return { rows: (await readUsageOf(workspace)).rows, notices: notices.filter((notice) => notice.includes('API keys')) }
}

/** What became of one case of several that were built together: its usage without the date, and what was said of it. */
interface CaseUsage {
  usage: Omit<UsageRow, 'date'>[]
  notices: string[]
}

/**
 * Builds many cases at once. The records of each are of a day of its own, by which its usage is found again; notices name
 * no more than a source, so that cases of which something is said need one each.
 */
async function usageOfEach<Case>(
  sources: readonly (readonly Case[])[],
  recordsOf: (one: Case) => FileRecord[],
): Promise<Map<Case, CaseUsage>> {
  const cases = sources.flat()
  const dayOf = (one: Case) => `2025-01-${String(cases.indexOf(one) + 1).padStart(2, '0')}`
  const timed = (one: Case) => recordsOf(one).map((record) => ({ ...record, timestamp: `${dayOf(one)}T12:00:00Z` }))
  const workspace = await createWorkspace()
  try {
    const files = sources.map((ofSource) => ({
      records: [BYSTANDER, ...ofSource.flatMap(timed)],
      extraColumns: KEY_COLUMNS,
    }))
    await writeSmallBuild(workspace, { sources: files, top: { max_rejected_share: 1 } })
    const { rows, notices } = await buildAndRead(workspace)
    expect(rows.filter(({ date }) => !cases.map(dayOf).includes(date))).toEqual([])
    const usageOn = (day: string) => rows.filter(({ date }) => date === day).map(({ date: _, ...row }) => row)
    const saidOf = (source: number) => notices.filter((notice) => notice.startsWith(`source "source-${source}": `))
    return new Map(
      sources.flatMap((ofSource, source) =>
        ofSource.map((one) => [one, { usage: usageOn(dayOf(one)), notices: saidOf(source) }]),
      ),
    )
  } finally {
    await removeWorkspace(workspace)
  }
}

const costs = (rows: UsageRow[]) => rows.map(({ cost_usd }) => cost_usd)

describe('the sums', () => {
  it('are one for each key, UTC day and is_byok, in this order', async () => {
    const next = '2025-03-03T00:00:00Z'
    const { rows } = await usageOf([
      charge({ timestamp: next }),
      charge(),
      charge({ cost_usd: '0.75' }),
      charge({ is_byok: 'true', cost_usd: '8' }),
      charge({ api_key_hash: HASH_B }),
      charge({ timestamp: '2025-03-02T23:59:59.9999999Z', api_key_hash: HASH_B }),
    ])
    const [first, second] = [HASH_A, HASH_B].sort()
    expect(rows.map(({ date, api_key_hash }) => [date, api_key_hash])).toEqual([
      ...[HASH_A, HASH_A, HASH_B].sort((a, b) => (a < b ? -1 : 1)).map((hash) => ['2025-03-02', hash]),
      ['2025-03-03', HASH_A],
    ])
    expect(first).not.toBe(second)
    expect(rows).toContainEqual({
      date: '2025-03-02',
      api_key_hash: HASH_A,
      is_byok: false,
      cost_usd: '2',
      requests: 2,
      free_requests: 0,
    })
    expect(rows.find(({ is_byok }) => is_byok)).toMatchObject({ cost_usd: '8', requests: 1 })
    expect(rows.find(({ api_key_hash }) => api_key_hash === HASH_B)).toMatchObject({ cost_usd: '2.5', requests: 2 })
  })

  it('are exact where binary fractions are not, and wider than one amount may be', async () => {
    const tenths = Array.from({ length: 30 }, () => charge({ cost_usd: '0.1' }))
    const largest = Array.from({ length: 12 }, () =>
      charge({ cost_usd: '999999999.999999999', timestamp: '2025-03-03T12:00:00Z' }),
    )
    expect(costs((await usageOf([...tenths, ...largest])).rows)).toEqual(['3', '11999999999.999999988'])
  })

  it('add up over all sources', async () => {
    const workspace = await newWorkspace()
    const source = { records: [BYSTANDER, charge()], extraColumns: KEY_COLUMNS }
    await writeSmallBuild(workspace, { sources: [source, source, source] })
    expect(costs((await buildAndRead(workspace)).rows)).toEqual(['3.75'])
  })

  it('take in private and withheld models, and days that are not published', async () => {
    const workspace = await newWorkspace()
    const records = [
      charge({ visibility: 'private', cost_usd: '1' }),
      charge({ model_permaslug: 'acme/hidden', cost_usd: '2' }),
      charge({ model_permaslug: 'unknown', cost_usd: '4' }),
      charge({ timestamp: '2019-01-01T00:00:00Z' }),
      charge({ timestamp: '2025-03-10T11:00:00Z' }),
      charge({ timestamp: '2025-12-01T00:00:00Z' }),
    ]
    await writeSmallBuild(workspace, {
      sources: [
        { records: [BYSTANDER, ...records], settings: { visibility: 'registry' }, extraColumns: KEY_COLUMNS },
        { records: [charge({ cost_usd: '8' })], settings: { visibility: 'private' }, extraColumns: KEY_COLUMNS },
      ],
      models: [{ model_permaslug: 'bystander' }, { model_permaslug: 'acme/hidden', public: false }],
    })
    const { rows } = await buildAndRead(workspace)
    expect(rows.map(({ date, cost_usd }) => `${date} ${cost_usd}`)).toEqual([
      '2019-01-01 1.25',
      '2025-03-02 15',
      '2025-03-10 1.25',
      '2025-12-01 1.25',
    ])
  })

  it('leave out what is rejected, for whatever reason', async () => {
    const { rows } = await usageOf([
      charge(),
      charge({ timestamp: 'yesterday' }),
      charge({ prompt_tokens: '-1' }),
      charge({ visibility: 'secret' }),
      charge({ model_permaslug: 'other' }),
      charge({ model_permaslug: '=cmd' }),
    ])
    expect(rows).toMatchObject([{ cost_usd: '1.25', requests: 1 }])
  })

  it('count a repeated record once, and the copy that stays decides on cost, key and is_byok', async () => {
    const copy = (fields: FileRecord) => charge({ request_id: 'r1', ...fields })
    const early = copy({ timestamp: '2025-03-02T11:00:00Z', cost_usd: '9', is_byok: 'true', api_key_hash: HASH_B })
    const late = copy({ timestamp: '2025-03-02T12:00:00Z', cost_usd: '0.5' })
    for (const records of [
      [early, late, early],
      [late, early, late],
    ]) {
      const { rows } = await usageOf(records)
      expect(rows).toMatchObject([{ api_key_hash: HASH_A, is_byok: false, cost_usd: '0.5', requests: 1 }])
    }
  })

  it('take the dearest of copies that are otherwise equal, then the greatest key, then BYOK, in whatever order', async () => {
    const great = [HASH_A, HASH_B].sort().at(-1) ?? ''
    const copies = [
      charge({ request_id: 'r1', cost_usd: '0.5', api_key_hash: great, is_byok: 'true' }),
      charge({ request_id: 'r1', cost_usd: '2', api_key_hash: [HASH_A, HASH_B].sort()[0] ?? '', is_byok: 'true' }),
      charge({ request_id: 'r1', cost_usd: '2', api_key_hash: great }),
      charge({ request_id: 'r1', cost_usd: '2', api_key_hash: great, is_byok: 'true' }),
    ]
    for (const records of [copies, copies.toReversed()]) {
      const { rows } = await usageOf(records)
      expect(rows).toMatchObject([{ api_key_hash: great, is_byok: true, cost_usd: '2', requests: 1 }])
    }
  })

  it('count requests for free variants, by the name that an alias stands for', async () => {
    const workspace = await newWorkspace()
    const slugs = ['acme/one', 'acme/one:free', 'short:free', 'gratis', 'paid:free']
    await writeSmallBuild(workspace, {
      sources: [
        {
          records: [BYSTANDER, ...slugs.map((slug) => charge({ model_permaslug: slug }))],
          settings: { visibility: 'registry' },
          extraColumns: KEY_COLUMNS,
        },
      ],
      models: [
        { model_permaslug: 'bystander' },
        { model_permaslug: 'acme/one', aliases: ['short', 'paid:free'] },
        { model_permaslug: 'acme/two:free', aliases: ['gratis'] },
      ],
    })
    expect((await buildAndRead(workspace)).rows).toMatchObject([{ requests: 5, free_requests: 3 }])
  })
})

describe('a key is its SHA-256 in lower-case hex', () => {
  const wrong = [
    ['in upper case', HASH_A.toUpperCase()],
    ['too short', HASH_A.slice(1)],
    ['too long', `${HASH_A}0`],
    ['with a space', ` ${HASH_A}`],
    ['a secret', 'sk-tb-v1-0a1b2c'],
    ['absent', ''],
  ] as const
  let found: Map<string, CaseUsage>

  beforeAll(async () => {
    const keys = [HASH_A, ...wrong.map(([, api_key_hash]) => api_key_hash)]
    found = await usageOfEach([keys], (api_key_hash) => [charge({ api_key_hash })])
    expect(found.get(HASH_A)?.usage).toMatchObject([{ api_key_hash: HASH_A, requests: 1 }])
  })

  it.each(wrong)('one that is %s is no key, and counts nowhere', (_, api_key_hash) => {
    expect(found.get(api_key_hash)?.usage).toEqual([])
  })
})

describe('an amount', () => {
  const counted = [
    ['0.001', '0.001'],
    ['1e-7', '0.0000001'],
    ['1E-7', '0.0000001'],
    ['0.000000001', '0.000000001'],
    ['0.0000000005', '0.000000001'],
    ['0.00000000049', '0'],
    ['12', '12'],
    ['+0.5', '0.5'],
    ['.5', '0.5'],
    ['-0', '0'],
    ['', '0'],
  ] as const
  const unreadable = ['-0.01', '-1e-3', 'free', '1,5', '$1', '1_000', 'NaN', 'Infinity', '1e9', ' ']
  let found: Map<string, CaseUsage>

  beforeAll(async () => {
    const sources = [counted.map(([cost_usd]) => cost_usd), ...unreadable.map((cost_usd) => [cost_usd])]
    found = await usageOfEach<string>(sources, (cost_usd) =>
      unreadable.includes(cost_usd) ? [charge({ cost_usd }), charge()] : [charge({ cost_usd })],
    )
  })

  it.each(counted)('written %j counts as %s', (cost_usd, sum) => {
    expect(found.get(cost_usd)).toMatchObject({ usage: [{ cost_usd: sum, requests: 1 }], notices: [] })
  })

  it.each(unreadable)('written %j counts as 0, its record stays, and the maintainer is told', (cost_usd) => {
    expect(found.get(cost_usd)).toMatchObject({
      usage: [{ cost_usd: '1.25', requests: 2 }],
      notices: [expect.stringMatching(/^source "source-\d+": 1 records of API keys have a cost_usd /)],
    })
  })

  it('that cannot be read is told once for each record, repeated deliveries and keyless records not counted', async () => {
    const bad = charge({ cost_usd: '-1', request_id: 'r1' })
    const { notices } = await usageOf([
      bad,
      bad,
      bad,
      charge({ cost_usd: 'x' }),
      charge({ cost_usd: 'x', api_key_hash: '' }),
    ])
    expect(notices).toEqual([expect.stringContaining(': 2 records')])
  })
})

describe('is_byok', () => {
  const read = [
    ['true', true],
    ['True', true],
    ['1', true],
    ['false', false],
    ['FALSE', false],
    ['0', false],
    ['', false],
  ] as const
  const unreadable = ['yes', '2', 'maybe']
  let found: Map<string, CaseUsage>

  beforeAll(async () => {
    const sources = [read.map(([text]) => text), ...unreadable.map((text) => [text])]
    found = await usageOfEach<string>(sources, (is_byok) => [charge({ is_byok })])
  })

  it.each(read)('written %j is %s', (text, is_byok) => {
    expect(found.get(text)).toMatchObject({ usage: [{ is_byok }], notices: [] })
  })

  it.each(unreadable)('written %j counts as false, and the maintainer is told', (text) => {
    expect(found.get(text)).toMatchObject({
      usage: [{ is_byok: false, cost_usd: '1.25' }],
      notices: [expect.stringContaining(': 1 records')],
    })
  })
})

describe('every format', () => {
  /**
   * Builds files, each in a source of its own with one record beside it that can always be published, and gives the usage
   * of each, which is of the date that `write` is told.
   */
  async function usageOfFiles(
    names: readonly string[],
    write: (path: string, date: string, position: number) => Promise<unknown>,
  ): Promise<UsageRow[][]> {
    const workspace = await newWorkspace()
    const dates = names.map((_, position) => `2025-03-${String(position + 1).padStart(2, '0')}`)
    for (const [position, name] of names.entries()) {
      const folder = join(workspace.input, String(position))
      await writeRecords(join(folder, 'bystander.csv'), [BYSTANDER], { columns: COLUMNS })
      await write(join(folder, name), dates[position] ?? '', position)
    }
    const sources = names.map((name, position) => {
      const files = [`${position}/bystander.csv`, `${position}/${name}`]
      return { name: `source-${position}`, schema: 'canonical', files, visibility: 'public' }
    })
    await writeInput(workspace, 'sources.json', { sources })
    const { rows } = await buildAndRead(workspace)
    expect(rows.filter(({ date }) => !dates.includes(date))).toEqual([])
    return dates.map((ofCase) => rows.filter(({ date }) => date === ofCase))
  }

  it('says the same', async () => {
    const names = ['usage.csv', 'usage.csv.gz', 'usage.csv.zst', 'usage.ndjson', 'usage.ndjson.gz', 'usage.parquet']
    const usage = await usageOfFiles(names, (path, date) => {
      const record = charge({ timestamp: `${date}T12:00:00Z`, is_byok: 'true', cost_usd: '1e-7' })
      return writeRecords(path, [record], { columns: [...COLUMNS, ...KEY_COLUMNS] })
    })
    const same = [{ api_key_hash: HASH_A, is_byok: true, cost_usd: '0.0000001', requests: 1 }]
    expect(usage.map((rows, position) => [names[position], rows])).toMatchObject(names.map((name) => [name, same]))
  })

  it('has costs as numbers in NDJSON, and is_byok as any of its words', async () => {
    const cases = [
      ['1e-7', 'true', '0.0000001'],
      ['0.1', '1', '0.1'],
      ['25', '"true"', '25'],
    ]
    const names = cases.map(() => 'usage.ndjson')
    const usage = await usageOfFiles(names, (path, date, position) => {
      const [cost, flag] = cases[position] ?? []
      const line = `{"timestamp":"${date}T12:00:00Z","model_permaslug":"a","prompt_tokens":1,"completion_tokens":0,"api_key_hash":"${HASH_A}","cost_usd":${cost},"is_byok":${flag}}\n`
      return writeFile(path, line)
    })
    expect(usage.map((rows, position) => [cases[position]?.[0], rows])).toMatchObject(
      cases.map(([cost, , counted]) => [cost, [{ is_byok: true, cost_usd: counted }]]),
    )
  })

  it('has costs and is_byok in several types of Parquet', async () => {
    const cases = [
      ['0.1::DOUBLE', 'true::BOOLEAN', '0.1'],
      ['0.1::FLOAT', '1::TINYINT', '0.1'],
      ['0.000000123::DECIMAL(38, 12)', 'true::BOOLEAN', '0.000000123'],
      ['3::INTEGER', 'true::BOOLEAN', '3'],
    ]
    const names = cases.map(() => 'usage.parquet')
    const usage = await usageOfFiles(names, (path, date, position) => {
      const [cost, flag] = cases[position] ?? []
      return query(
        `COPY (SELECT '${date}T12:00:00Z' AS timestamp, 'a' AS model_permaslug, 1 AS prompt_tokens, 0 AS completion_tokens, '${HASH_A}' AS api_key_hash, ${cost} AS cost_usd, ${flag} AS is_byok) TO ${sqlText(path)} (FORMAT parquet)`,
      )
    })
    expect(usage.map((rows, position) => [cases[position]?.[0], rows])).toMatchObject(
      cases.map(([cost, , counted]) => [cost, [{ is_byok: true, cost_usd: counted }]]),
    )
  })

  it('may lack the columns: such a file has no usage, and one beside it keeps its own', async () => {
    const write = (path: string) => writeRecords(path, [BYSTANDER], { columns: COLUMNS })
    expect(await usageOfFiles(['usage.csv'], write)).toEqual([[]])
  })

  it('may call the columns otherwise', async () => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, {
      sources: [
        {
          records: [{ ...BYSTANDER, key: HASH_A, usd: '7', own: '1' }],
          settings: { columns: { api_key_hash: 'key', cost_usd: 'usd', is_byok: 'own' } },
          extraColumns: ['key', 'usd', 'own'],
        },
      ],
    })
    expect((await buildAndRead(workspace)).rows).toMatchObject([{ cost_usd: '7', is_byok: true }])
  })
})

describe('the file', () => {
  it('says its form, when it was built, and how many days follow', async () => {
    const { workspace } = await usageOf([charge(), charge({ timestamp: '2025-03-03T00:00:00Z' })])
    const { header } = await readUsageOf(workspace)
    expect(header).toEqual({ version: 1, as_of: '2025-03-10T12:00:00Z', days: 2 })
  })

  it('is written anew by a build that changes nothing public, and empty where no key is left', async () => {
    const { workspace } = await usageOf([charge({ timestamp: '2025-03-10T01:00:00Z' })])
    const write = (records: FileRecord[]) =>
      writeSmallBuild(workspace, {
        sources: [{ records: [BYSTANDER, ...records], extraColumns: KEY_COLUMNS }],
        top: { on_missing: 'remove' },
      })
    await write([charge({ timestamp: '2025-03-10T01:00:00Z', cost_usd: '3' })])
    expect((await buildIn(workspace, '2025-03-10T13:00:00Z')).outcome).toBe('unchanged')
    expect(await readUsageOf(workspace)).toMatchObject({
      header: { as_of: '2025-03-10T13:00:00Z' },
      rows: [{ cost_usd: '3' }],
    })
    await write([])
    expect((await buildIn(workspace, '2025-03-10T14:00:00Z')).outcome).toBe('unchanged')
    expect(await readUsageOf(workspace)).toMatchObject({ header: { days: 0 }, rows: [] })
  })

  it('has the same bytes but for its header when it is built again, in whatever order the records come', async () => {
    const records = [charge(), charge({ api_key_hash: HASH_B }), charge({ is_byok: '1' }), charge({ cost_usd: '3' })]
    const [forward, backward] = [await usageOf(records), await usageOf(records.toReversed())]
    const text = ({ workspace }: BuiltUsage) => readFile(join(workspace.dataDir, 'state/usage.ndjson'), 'utf8')
    expect(await text(backward)).toBe(await text(forward))
  })

  it('never enters the public folder, nor does anything it says', async () => {
    const { workspace } = await usageOf([charge({ cost_usd: '7777.123456789' })])
    const published = await snapshotTree(workspace.publicDir)
    expect(Object.keys(published).filter((name) => /usage/i.test(name))).toEqual([])
    const files = Object.keys(published).filter((name) => /\.(json|csv|html|cff|md|txt)$/.test(name))
    for (const name of files) {
      const text = await readFile(join(workspace.publicDir, name), 'utf8')
      expect(text).not.toContain(HASH_A)
      expect(text).not.toContain('7777.123')
    }
  })

  it('is not written where it would be published: DATA_DIR in PUBLIC_DIR is wrong usage', async () => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: [BYSTANDER] }] })
    for (const dataDir of [workspace.publicDir, join(workspace.publicDir, 'data')]) {
      await expect(buildIn({ ...workspace, dataDir })).rejects.toThrow(CliError)
    }
    expect(await snapshotTree(workspace.publicDir)).toEqual({})
  })

  it('stays as it was when the build fails', async () => {
    const { workspace } = await usageOf([charge()])
    const before = await readUsageOf(workspace)
    await writeSmallBuild(workspace, {
      sources: [{ records: [charge({ visibility: 'private', cost_usd: '9' })], extraColumns: KEY_COLUMNS }],
      top: { on_missing: 'remove' },
    })
    await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow('no public usage')
    expect(await readUsageOf(workspace)).toEqual(before)
  })
})

/** Amounts as written, and the billionths of a dollar that each is; undefined counts as 0 and is reported. */
const COSTS: Record<string, bigint | undefined> = {
  '': 0n,
  '0': 0n,
  '0.1': 100_000_000n,
  '0.2': 200_000_000n,
  '1e-7': 100n,
  '0.000000001': 1n,
  '999999999.999999999': 999_999_999_999_999_999n,
  '-1': undefined,
  free: undefined,
}
const FLAGS: Record<string, boolean> = { '': false, true: true, false: false, '1': true, '0': false, maybe: false }
const ALIASES: Record<string, string> = { short: 'acme/one', 'short:free': 'acme/one:free', gratis: 'acme/two:free' }
const PRIVATE = ['acme/hidden', 'acme/hidden:free']

const Charge = fc.record({
  timestamp: fc.constantFrom(
    ...['2019-06-01T00:00:00Z', '2025-03-01T23:59:59.9999999Z', '2025-03-02T00:00:00Z', '2025-03-02T12:00:00Z'],
    ...['2025-03-03T05:29:59+05:30', '2025-03-10T11:59:59Z', '2031-01-01T00:00:00Z', 'never'],
  ),
  model_permaslug: fc.constantFrom(
    ...['acme/one', 'acme/one:free', 'short', 'short:free', 'gratis', 'acme/hidden', 'acme/hidden:free'],
    ...['unknown', 'unknown:free', 'other', '=cmd'],
  ),
  prompt_tokens: fc.constantFrom('0', '1', '2', '-1'),
  completion_tokens: fc.constantFrom('0', '1'),
  request_id: fc.constantFrom('', 'r1', 'r2', 'r3'),
  visibility: fc.constantFrom('', '', 'public', 'private', 'secret'),
  api_key_hash: fc.constantFrom(HASH_A, HASH_A, HASH_B, HASH_A.toUpperCase(), ''),
  cost_usd: fc.constantFrom(...Object.keys(COSTS)),
  is_byok: fc.constantFrom(...Object.keys(FLAGS)),
})
type Charge = typeof Charge extends fc.Arbitrary<infer T> ? T : never

/** The sums once more, in plain TypeScript: read, reject, resolve, keep one of each copy, add. */
function expectedUsage(charges: readonly Charge[]): UsageRow[] {
  const kept = new Map<string, ReturnType<typeof readCharge>>()
  for (const [index, raw] of charges.entries()) {
    const read = readCharge(raw)
    if (read === undefined) continue
    const name = raw.request_id === '' ? `record ${index}` : `id ${read.date} ${raw.request_id}`
    const rival = kept.get(name)
    if (rival === undefined || compare(read.rank, rival.rank) > 0) kept.set(name, read)
  }
  const sums = new Map<string, { nanos: bigint; requests: number; free_requests: number }>()
  for (const read of kept.values()) {
    if (read === undefined || read.key === '') continue
    const name = JSON.stringify([read.date, read.key, read.isByok])
    const sum = sums.get(name) ?? { nanos: 0n, requests: 0, free_requests: 0 }
    sum.nanos += read.nanos
    sum.requests += 1
    sum.free_requests += read.model.endsWith(':free') ? 1 : 0
    sums.set(name, sum)
  }
  return [...sums]
    .map(([name, { nanos, ...counts }]) => {
      const [date, api_key_hash, is_byok] = JSON.parse(name)
      const digits = String(nanos).padStart(10, '0')
      const cost_usd = `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
      return { date, api_key_hash, is_byok, cost_usd, ...counts }
    })
    .sort((a, b) => compare([a.date, a.api_key_hash, BigInt(a.is_byok)], [b.date, b.api_key_hash, BigInt(b.is_byok)]))
}

function readCharge(raw: Charge) {
  const instant = parseTimestamp(raw.timestamp, 'UTC')
  if (instant === undefined || raw.prompt_tokens === '-1' || raw.visibility === 'secret') return undefined
  if (!isModelSlug(raw.model_permaslug)) return undefined
  const date = new Date(Number(instant / 1000n)).toISOString().slice(0, 10)
  // Later than tomorrow by the clock of `buildIn`: nothing that was used.
  if (date > '2026-11-21') return undefined
  const model = ALIASES[raw.model_permaslug] ?? raw.model_permaslug
  const ofRegistry = PRIVATE.includes(model) ? 'private' : model.startsWith('unknown') ? 'withheld' : 'public'
  const secrecy = ['public', 'withheld', 'private'].indexOf(raw.visibility === '' ? ofRegistry : raw.visibility)
  const nanos = COSTS[raw.cost_usd] ?? 0n
  const key = /^[0-9a-f]{64}$/.test(raw.api_key_hash) ? raw.api_key_hash : ''
  const isByok = FLAGS[raw.is_byok] ?? false
  return {
    ...{ date, model, nanos, key, isByok },
    rank: [instant, raw.prompt_tokens, raw.completion_tokens, model, BigInt(secrecy), nanos, key, BigInt(isByok)],
  }
}

function compare(a: readonly (string | bigint)[], b: readonly (string | bigint)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? ''
    const isNumber = typeof left === 'bigint' && typeof right === 'bigint'
    const order = isNumber
      ? Number(left > right) - Number(left < right)
      : compareCodePoints(String(left), String(right))
    if (order !== 0) return order
  }
  return 0
}

it('is what plain TypeScript makes of the same records, whatever they are and in whatever files', async () => {
  const Format = fc.constantFrom('csv', 'csv.gz', 'ndjson', 'ndjson.zst', 'parquet')
  const File = fc.record({ format: Format, charges: fc.array(Charge, { maxLength: 40 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(File, { minLength: 1, maxLength: 3 }), async (files) => {
      const workspace = await newWorkspace()
      const columns = [...COLUMNS, ...KEY_COLUMNS]
      const names = files.map(({ format }, index) => `usage-${index}.${format}`)
      for (const [index, { charges }] of files.entries()) {
        await writeRecords(join(workspace.input, names[index] ?? ''), charges, { columns })
      }
      await writeRecords(join(workspace.input, 'bystander.csv'), [BYSTANDER], { columns: COLUMNS })
      const model = (slug: string, fields: object = {}) => ({ model_permaslug: slug, public: true, ...fields })
      await writeInput(workspace, 'models.json', [
        model('bystander'),
        model('acme/one', { aliases: ['short'] }),
        model('acme/two:free', { aliases: ['gratis'] }),
        model('acme/hidden', { public: false }),
      ])
      const source = { name: 's', schema: 'canonical', files: ['bystander.csv', ...names] }
      await writeInput(workspace, 'sources.json', {
        models: 'models.json',
        max_rejected_share: 1,
        max_withheld_share: 1,
        sources: [source],
      })
      const { rows } = await buildAndRead(workspace)
      expect(rows).toEqual(expectedUsage(files.flatMap(({ charges }) => charges)))
    }),
    { numRuns: 4, seed: 20250302 },
  )
})
