/** What each API key used, summed from the raw records into a private file, for `GET /key`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import {
  buildAndListen,
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
/** A record of no key that can always be published. */
const BYSTANDER = { timestamp: '2025-03-01T00:00:00Z', model_permaslug: 'bystander', prompt_tokens: '1' }
const [LOW_KEY = '', HIGH_KEY = ''] = [HASH_A, HASH_B].sort()

function charge(fields: FileRecord = {}): FileRecord {
  return { model_permaslug: 'acme/one', prompt_tokens: '1', api_key_hash: HASH_A, cost_usd: '1.25', ...fields }
}

async function buildAndRead(workspace: Workspace): Promise<{ rows: UsageRow[]; notices: string[] }> {
  const { notices } = await buildAndListen(workspace)
  return { rows: (await readUsageOf(workspace)).rows, notices: notices.filter((notice) => notice.includes('API keys')) }
}

/** Records of a day and what the file says of that day. */
interface Case {
  what: string
  /** A timestamp without a date is a time of that day; without a timestamp it is noon. */
  records: FileRecord[]
  usage: Partial<UsageRow>[]
  /** How many records have a cost_usd or is_byok that cannot be read. */
  misread?: number
}

const copy = (fields: FileRecord) => charge({ request_id: 'r1', ...fields })

const SUMS: Case[] = [
  {
    what: 'sums each key, with and without BYOK apart, in the order of keys',
    records: [
      charge({ api_key_hash: HIGH_KEY, timestamp: 'T00:00:00Z' }),
      charge({ api_key_hash: LOW_KEY, is_byok: 'true', cost_usd: '8' }),
      charge({ api_key_hash: LOW_KEY, cost_usd: '0.75' }),
      charge({ api_key_hash: HIGH_KEY, timestamp: 'T23:59:59.9999999Z' }),
      charge({ api_key_hash: LOW_KEY }),
    ],
    usage: [
      { api_key_hash: LOW_KEY, is_byok: false, cost_usd: '2', requests: 2, free_requests: 0 },
      { api_key_hash: LOW_KEY, is_byok: true, cost_usd: '8', requests: 1, free_requests: 0 },
      { api_key_hash: HIGH_KEY, is_byok: false, cost_usd: '2.5', requests: 2, free_requests: 0 },
    ],
  },
  {
    what: 'sums exactly where binary fractions would not',
    records: Array.from({ length: 30 }, () => charge({ cost_usd: '0.1' })),
    usage: [{ cost_usd: '3', requests: 30 }],
  },
  {
    what: 'sums to more than one amount may be',
    records: Array.from({ length: 12 }, () => charge({ cost_usd: '999999999.999999999' })),
    usage: [{ cost_usd: '11999999999.999999988' }],
  },
  {
    what: 'excludes rejected records',
    records: [
      charge(),
      charge({ prompt_tokens: '-1' }),
      charge({ visibility: 'secret' }),
      charge({ model_permaslug: 'other' }),
      charge({ model_permaslug: '=cmd' }),
    ],
    usage: [{ cost_usd: '1.25', requests: 1 }],
  },
  {
    what: 'counts a duplicate once, with cost, key and BYOK of the copy that stays',
    records: [
      copy({ timestamp: 'T11:00:00Z', cost_usd: '9', is_byok: 'true', api_key_hash: HASH_B }),
      copy({ timestamp: 'T12:00:00Z', cost_usd: '0.5' }),
      copy({ timestamp: 'T11:00:00Z', cost_usd: '9', is_byok: 'true', api_key_hash: HASH_B }),
    ],
    usage: [{ api_key_hash: HASH_A, is_byok: false, cost_usd: '0.5', requests: 1 }],
  },
  {
    what: 'prefers a copy with more tokens to a dearer one',
    records: [copy({ prompt_tokens: '2', cost_usd: '0.5' }), copy({ cost_usd: '9' })],
    usage: [{ cost_usd: '0.5', requests: 1 }],
  },
  {
    what: 'prefers a private copy to a dearer one',
    records: [copy({ visibility: 'private', cost_usd: '0.5' }), copy({ visibility: 'public', cost_usd: '9' })],
    usage: [{ cost_usd: '0.5', requests: 1 }],
  },
  {
    what: 'takes the dearest of otherwise equal copies, then the greatest key, then BYOK',
    records: [
      copy({ cost_usd: '0.5', api_key_hash: HIGH_KEY, is_byok: 'true' }),
      copy({ cost_usd: '2', api_key_hash: LOW_KEY, is_byok: 'true' }),
      copy({ cost_usd: '2', api_key_hash: HIGH_KEY }),
      copy({ cost_usd: '2', api_key_hash: HIGH_KEY, is_byok: 'true' }),
      copy({ cost_usd: '2', api_key_hash: HIGH_KEY, is_byok: 'false' }),
    ],
    usage: [{ api_key_hash: HIGH_KEY, is_byok: true, cost_usd: '2', requests: 1 }],
  },
  {
    what: 'reports an unreadable cost once per record, and not those of records without a key',
    records: [
      ...Array.from({ length: 3 }, () => copy({ cost_usd: '-1' })),
      charge({ cost_usd: 'x' }),
      charge({ cost_usd: 'x', api_key_hash: '' }),
    ],
    usage: [{ cost_usd: '0', requests: 2 }],
    misread: 2,
  },
]

const WRONG_KEYS = {
  'in upper case': HASH_A.toUpperCase(),
  'that is too short': HASH_A.slice(1),
  'that is too long': `${HASH_A}0`,
  'with a space': ` ${HASH_A}`,
  'in clear text': 'sk-tb-v1-0a1b2c',
  'that is empty': '',
}
const AMOUNTS = {
  '0.001': '0.001',
  '1e-7': '0.0000001',
  '1E-7': '0.0000001',
  '0.000000001': '0.000000001',
  '0.0000000005': '0.000000001',
  '0.00000000049': '0',
  '12': '12',
  '+0.5': '0.5',
  '.5': '0.5',
  '-0': '0',
  '': '0',
}
const WRONG_AMOUNTS = ['-0.01', '-1e-3', 'free', '1,5', '$1', '1_000', 'NaN', 'Infinity', '1e9', ' ']
const FLAGS = { true: true, True: true, '1': true, false: false, FALSE: false, '0': false, '': false }
const WRONG_FLAGS = ['yes', '2', 'maybe']

const CASES: Case[] = [
  ...SUMS,
  ...Object.entries(WRONG_KEYS).map(([which, api_key_hash]) => ({
    what: `takes an API key hash ${which} for no key`,
    records: [charge({ api_key_hash })],
    usage: [],
  })),
  ...Object.entries(AMOUNTS).map(([cost_usd, counted]) => ({
    what: `reads a cost of "${cost_usd}" as ${counted}`,
    records: [charge({ cost_usd })],
    usage: [{ cost_usd: counted, requests: 1 }],
  })),
  ...WRONG_AMOUNTS.map((cost_usd) => ({
    what: `counts a record with a cost of "${cost_usd}" as free of charge and reports it`,
    records: [charge({ cost_usd }), charge()],
    usage: [{ cost_usd: '1.25', requests: 2 }],
    misread: 1,
  })),
  ...Object.entries(FLAGS).map(([flag, is_byok]) => ({
    what: `reads is_byok "${flag}" as ${is_byok}`,
    records: [charge({ is_byok: flag })],
    usage: [{ is_byok, requests: 1 }],
  })),
  ...WRONG_FLAGS.map((is_byok) => ({
    what: `reads is_byok "${is_byok}" as false and reports it`,
    records: [charge({ is_byok })],
    usage: [{ is_byok: false, cost_usd: '1.25' }],
    misread: 1,
  })),
]

/** The day of a case, before the first day that is published: the file has those days too. */
function dayOf(position: number): string {
  return addDays('2024-01-01', position)
}

describe('usage of API keys by day', () => {
  let rows: UsageRow[]
  let notices: string[]
  let texts: string[]

  /** Builds all cases at once, one day each, and gives the text of the file. */
  async function build(cases: readonly Case[]): Promise<string> {
    const workspace = await createWorkspace()
    try {
      const records = cases.flatMap((each, position) =>
        each.records.map(({ timestamp = 'T12:00:00Z', ...record }) => ({
          ...record,
          timestamp: `${dayOf(position)}${timestamp}`,
        })),
      )
      const clean = { records: [charge({ timestamp: '2023-01-01T00:00:00Z' })], extraColumns: KEY_COLUMNS }
      await writeSmallBuild(workspace, {
        sources: [{ records: [BYSTANDER, ...records], extraColumns: KEY_COLUMNS }, clean],
        top: { max_rejected_share: 1 },
      })
      const built = await buildAndRead(workspace)
      rows = built.rows
      notices = built.notices
      return await readFile(join(workspace.dataDir, 'state/usage.ndjson'), 'utf8')
    } finally {
      await removeWorkspace(workspace)
    }
  }

  beforeAll(async () => {
    const reversed = CASES.map((each) => ({ ...each, records: each.records.toReversed() }))
    texts = [await build(reversed), await build(CASES)]
  })

  it.each(CASES.map((each, position) => [each.what, each.usage, position] as const))('%s', (_, usage, position) => {
    expect(rows.filter(({ date }) => date === dayOf(position))).toMatchObject(usage)
  })

  it('has no other days', () => {
    const days = new Set(['2023-01-01', ...CASES.map((_, position) => dayOf(position))])
    expect(rows.filter(({ date }) => !days.has(date))).toEqual([])
  })

  it('reports per source how many records have an unreadable cost or is_byok', () => {
    const misread = CASES.reduce((sum, each) => sum + (each.misread ?? 0), 0)
    expect(notices).toEqual([
      expect.stringContaining(`source "source-0": ${misread} records of API keys have a cost_usd`),
    ])
  })

  it('writes the same bytes whatever the order of the records', () => {
    expect(texts[0]).toBe(texts[1])
  })
})

it('counts usage of private and withheld models, of all sources and days, and free variants after their aliases', async () => {
  const workspace = await newWorkspace()
  const free = ['acme/one', 'acme/one:free', 'short:free', 'gratis', 'paid:free']
  await writeSmallBuild(workspace, {
    sources: [
      {
        records: [
          BYSTANDER,
          charge({ visibility: 'private', cost_usd: '1' }),
          charge({ model_permaslug: 'acme/hidden', cost_usd: '2' }),
          charge({ model_permaslug: 'unknown', cost_usd: '4' }),
          charge({ timestamp: 'yesterday' }),
          charge({ timestamp: '2019-01-01T00:00:00Z' }),
          charge({ timestamp: '2025-03-10T11:00:00Z' }),
          charge({ timestamp: '2025-12-01T00:00:00Z' }),
          ...free.map((slug) => charge({ model_permaslug: slug, timestamp: '2025-03-03T00:00:00Z' })),
        ],
        settings: { visibility: 'registry' },
        extraColumns: KEY_COLUMNS,
      },
      { records: [charge({ cost_usd: '8' })], settings: { visibility: 'private' }, extraColumns: KEY_COLUMNS },
    ],
    models: [
      { model_permaslug: 'bystander' },
      { model_permaslug: 'acme/hidden', public: false },
      { model_permaslug: 'acme/one', aliases: ['short', 'paid:free'] },
      { model_permaslug: 'acme/two:free', aliases: ['gratis'] },
    ],
    top: { max_rejected_share: 1 },
  })
  const { rows } = await buildAndRead(workspace)
  expect(rows.map(({ date, cost_usd, free_requests }) => `${date} ${cost_usd} ${free_requests}`)).toEqual([
    '2019-01-01 1.25 0',
    '2025-03-02 15 0',
    '2025-03-03 6.25 3',
    '2025-03-10 1.25 0',
    '2025-12-01 1.25 0',
  ])
})

describe('usage in every format', () => {
  const NDJSON = [
    ['1e-7', 'true', '0.0000001'],
    ['0.1', '1', '0.1'],
    ['25', '"true"', '25'],
  ] as const
  const PARQUET = [
    ['0.1::DOUBLE', 'true::BOOLEAN', '0.1'],
    ['0.1::FLOAT', '1::TINYINT', '0.1'],
    ['0.000000123::DECIMAL(38, 12)', 'true::BOOLEAN', '0.000000123'],
    ['3::INTEGER', 'true::BOOLEAN', '3'],
  ] as const

  it('reads costs and is_byok as text, numbers and booleans, under other names, and not at all', async () => {
    const workspace = await newWorkspace()
    const expected: string[] = []
    const next = (cost: string) => {
      const date = dayOf(expected.length)
      expected.push(`${date} true ${cost}`)
      return date
    }
    const lines = NDJSON.map(([cost, flag, counted]) => {
      const fields = `"prompt_tokens":1,"completion_tokens":0,"api_key_hash":"${HASH_A}"`
      return `{"timestamp":"${next(counted)}","model_permaslug":"a",${fields},"cost_usd":${cost},"is_byok":${flag}}\n`
    })
    await writeInput(workspace, 'all/numbers.ndjson', lines.join(''))
    for (const [index, [cost, flag, counted]] of PARQUET.entries()) {
      const select = `SELECT '${next(counted)}' AS timestamp, 'a' AS model_permaslug, 1 AS prompt_tokens, 0 AS completion_tokens,
        '${HASH_A}' AS api_key_hash, ${cost} AS cost_usd, ${flag} AS is_byok`
      await query(`COPY (${select}) TO ${sqlText(join(workspace.input, `all/${index}.parquet`))} (FORMAT parquet)`)
    }
    await writeRecords(join(workspace.input, 'all/without.csv'), [BYSTANDER], { columns: COLUMNS })
    const renamed = { ...BYSTANDER, timestamp: next('7'), key: HASH_A, usd: '7', own: '1' }
    await writeRecords(join(workspace.input, 'renamed.csv'), [renamed], { columns: [...COLUMNS, 'key', 'usd', 'own'] })
    const source = { schema: 'canonical', visibility: 'public' }
    const columns = { api_key_hash: 'key', cost_usd: 'usd', is_byok: 'own' }
    await writeInput(workspace, 'sources.json', {
      sources: [
        { ...source, name: 'all', files: ['all/*'] },
        { ...source, name: 'renamed', files: ['renamed.csv'], columns },
      ],
    })
    const { rows } = await buildAndRead(workspace)
    expect(rows.map(({ date, is_byok, cost_usd }) => `${date} ${is_byok} ${cost_usd}`)).toEqual(expected)
  })
})

describe('the usage file', () => {
  const written = (workspace: Workspace, records: FileRecord[]) =>
    writeSmallBuild(workspace, { sources: [{ records, extraColumns: KEY_COLUMNS }], top: { on_missing: 'remove' } })

  it('follows private changes, keeps its content when a build fails, and never enters the public folder', async () => {
    const workspace = await newWorkspace()
    const today = (cost_usd: string) => charge({ timestamp: '2025-03-10T01:00:00Z', cost_usd })
    await written(workspace, [BYSTANDER, today('7777.123456789')])
    await buildIn(workspace)
    const first = await readUsageOf(workspace)
    expect(first).toMatchObject({
      header: { version: 1, as_of: '2025-03-10T12:00:00Z', days: 1 },
      rows: [{ cost_usd: '7777.123456789' }],
    })
    const published = Object.keys(await snapshotTree(workspace.publicDir))
    expect(published.filter((name) => /usage/i.test(name))).toEqual([])
    for (const name of published.filter((path) => /\.(json|csv|html|cff|md|txt)$/.test(path))) {
      const text = await readFile(join(workspace.publicDir, name), 'utf8')
      expect(text).not.toContain(HASH_A)
      expect(text).not.toContain('7777.123')
    }

    await written(workspace, [charge({ visibility: 'private', cost_usd: '9' })])
    await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow('no public usage')
    expect(await readUsageOf(workspace)).toEqual(first)

    await written(workspace, [BYSTANDER, today('3')])
    expect((await buildIn(workspace, '2025-03-10T14:00:00Z')).outcome).toBe('unchanged')
    expect(await readUsageOf(workspace)).toMatchObject({
      header: { as_of: '2025-03-10T14:00:00Z' },
      rows: [{ cost_usd: '3' }],
    })
    await written(workspace, [BYSTANDER])
    expect((await buildIn(workspace, '2025-03-10T15:00:00Z')).outcome).toBe('unchanged')
    expect(await readUsageOf(workspace)).toMatchObject({ header: { days: 0 }, rows: [] })
  })
})
