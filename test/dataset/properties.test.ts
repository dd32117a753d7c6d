/** The build against the independent oracle, on generated records in files of every format. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BuildError } from '../../pipeline/base/errors.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { TABLES } from '../../pipeline/contract/tables.ts'
import {
  expectedDataset,
  type OracleAnswer,
  type OracleSource,
  type RawRecord,
  type RegistryModel,
} from '../support/oracle.ts'
import {
  AS_OF,
  buildIn,
  createWorkspace,
  publishedCsv,
  removeWorkspace,
  sha256,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { COLUMNS, rawRecord, writeRecords } from '../support/records.ts'

/** More runs for a long night: PROPERTY_RUNS=2000. */
const { PROPERTY_RUNS = '6', PROPERTY_SEED = '20250302' } = process.env
const RUNS = Number(PROPERTY_RUNS)
const SEED = Number(PROPERTY_SEED)
const TIMEOUT_MS = 600_000 + RUNS * 60_000

// The last two days are the day of AS_OF and a later one, the first is before the dataset.
const DAYS = ['2024-12-31', '2025-01-01', '2025-03-01', '2025-03-02', '2025-03-03', AS_OF.slice(0, 10), '2025-03-11']
const CLOCKS = [
  ...['00:00:00', '00:00:00.000001', '12:34:56.5', '23:59:59', '23:59:59.999999', '23:59:59.9999999'],
  '23:59:59.999999999',
]
const OFFSETS = ['Z', '+00:00', '+08:00', '-08:00', '+05:30', '+14:00', '-12:00', '']
const ZONES = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu']
const MAX_TOKENS = String(2n ** 53n - 1n)
const TOKENS = ['', '0', '1', '1', '2', '3', '1000', '+7', ' 7 ', '007', '7.00', MAX_TOKENS, MAX_TOKENS]

const PLAIN_SLUGS = ['acme/one', 'acme/two', 'acme/three:free', 'acme/one:free']
const ODD_SLUGS = [
  ...[
    'comma,slug',
    'quo"te',
    '"quoted"',
    "apos'trophe",
    'pipe|line',
    'back\\slash',
    '\\N',
    '#hash',
    '{brace}',
    'per%cent',
  ],
  ...[
    '$dollar',
    'a b',
    ' lead',
    'trail ',
    'UPPER/Case',
    'upper/case',
    'null',
    'NULL',
    'NaN',
    '007',
    '7',
    '1e5',
    'true',
  ],
  ...['2025-03-02', 'Others', 'other/one', 'emoji/\u{1f600}', 'fullwidth/\uff5e', '\u{1f600}', '\uff5e', '\u{10437}'],
  ...['caf\u00e9', 'cafe\u0301', 'no-break\u00a0space', '\u200bzero-width', 'ft:listed:acme::x', 'x'.repeat(300)],
]
/** Unlisted names: some look like others, some look private. */
const UNLISTED_SLUGS = [
  '\u00a0acme/one ',
  'ac\u00adme/two\u200b',
  '\ufeffacme/two:beta ',
  'cafe\u200b\u0301 ',
  'acme/new',
  ' acme/ne\u2060w',
  'ft:unlisted:acme::x',
  'acme/one:prod',
]
const BAD_SLUGS = ['', 'other', '=a', '+a', '-a', '@a', 'a\u0007b', 'a\nb', 'a\u0085b', 'x'.repeat(301)]
const BAD_LOOKS = ['OTHER ', '\u200b ', 'a;b', 'a\u202eb', '\u200b=a', '＠a', 'a, ＝b', "a'-b"]
const LISTED_SLUGS = [...PLAIN_SLUGS.filter((slug) => slug !== 'acme/one:free'), ...ODD_SLUGS]

const slug = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PLAIN_SLUGS) },
  { weight: 4, arbitrary: fc.constantFrom(...ODD_SLUGS) },
  { weight: 2, arbitrary: fc.constantFrom(...UNLISTED_SLUGS) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('alias-of-acme/two', 'alias-of-acme/two:beta', 'alias-of-NaN', 'alias-of-comma,slug'),
  },
  { weight: 1, arbitrary: fc.constantFrom('unknown/one', 'unknown/one:free', '\u{1f4a3}/unknown') },
)

const timestamp = fc
  .tuple(fc.constantFrom(...DAYS), fc.constantFrom('T', ' '), fc.constantFrom(...CLOCKS), fc.constantFrom(...OFFSETS))
  .map((parts) => parts.join(''))

const goodRecord = fc.record({
  timestamp,
  model_permaslug: slug,
  prompt_tokens: fc.constantFrom(...TOKENS),
  completion_tokens: fc.constantFrom(...TOKENS),
  request_id: fc.constantFrom('', '', '', 'id-1', 'id-2', 'ID-1', 'id,"3"'),
  visibility: fc.constantFrom('', '', 'public', 'private'),
})

/** What makes a good record a bad one, in one field only: of two faults nobody says which is the reason. */
const fault = fc.oneof(
  fc.constantFrom(...BAD_SLUGS, ...BAD_LOOKS).map((text) => ({ model_permaslug: text })),
  fc
    .constantFrom('', 'soon', '2025-02-30T00:00:00Z', '12:00:00', '1970-01-21T12:00:00Z', '2031-01-01T00:00:00Z')
    .map((text) => ({ timestamp: text })),
  fc.constantFrom('-1', '1.5', '1e3', 'many', '9007199254740992', '7.').map((text) => ({ prompt_tokens: text })),
  fc.constantFrom('hidden', '1').map((text) => ({ visibility: text })),
)

const record: fc.Arbitrary<RawRecord> = fc.oneof(
  { weight: 9, arbitrary: goodRecord },
  { weight: 1, arbitrary: fc.tuple(goodRecord, fault).map(([good, wrong]) => ({ ...good, ...wrong })) },
)

/** Copies of one request, of which some lie behind midnight: the same id, other content. */
const copies = fc
  .tuple(
    goodRecord,
    fc.array(
      fc.record({
        minute: fc.constantFrom('2025-03-02T23:58', '2025-03-02T23:59', '2025-03-03T00:00'),
        model_permaslug: slug,
        prompt_tokens: fc.constantFrom('9', '10'),
        visibility: fc.constantFrom('public', 'private'),
      }),
      { minLength: 2, maxLength: 7 },
    ),
  )
  .map(([base, changes]) =>
    changes.map(({ minute, ...change }) => ({
      ...base,
      ...change,
      timestamp: `${minute}:00Z`,
      request_id: 'copied',
    })),
  )

/** A day with about 50 models of few different totals: ties everywhere, also at the cut. */
const crowdOfModels = fc
  .tuple(
    fc.constantFrom('2025-01-01', '2025-03-02', '2025-03-03'),
    fc.integer({ min: 45, max: 58 }),
    fc.integer({ min: 1, max: 3 }),
    fc.constantFrom('crowd', '\uff5ecrowd', '\u{1f600}crowd'),
  )
  .map(([day, count, totals, author]) =>
    Array.from({ length: count }, (_, index) =>
      rawRecord({
        timestamp: `${day}T06:00:00Z`,
        model_permaslug: `${author}/${index}`,
        prompt_tokens: String(1 + (index % totals)),
        completion_tokens: '',
        visibility: 'public',
      }),
    ),
  )

const source: fc.Arbitrary<OracleSource> = fc
  .record({
    visibility: fc.constantFrom('public' as const, 'registry' as const, 'registry' as const, 'private' as const),
    timezone: fc.constantFrom(...ZONES),
    saysVisibility: fc.boolean(),
    singles: fc.array(record, { maxLength: 40 }),
    copied: fc.oneof(fc.constant([]), copies),
    crowds: fc.array(crowdOfModels, { maxLength: 2 }),
  })
  .map(({ visibility, timezone, saysVisibility, singles, copied, crowds }) => ({
    visibility,
    timezone,
    records: [...singles, ...copied, ...crowds.flat()].map((raw) => withDecidedVisibility(raw, saysVisibility)),
  }))

/**
 * Of copies, one may say it is public while the other says nothing: nothing says which stays. So a record
 * that has an id says its visibility in all records of a source or in none.
 */
function withDecidedVisibility(raw: RawRecord, saysVisibility: boolean): RawRecord {
  if (raw.request_id === '' || !['', 'public', 'private'].includes(raw.visibility)) return raw
  return { ...raw, visibility: saysVisibility ? raw.visibility || 'public' : '' }
}

const registry: fc.Arbitrary<RegistryModel[]> = fc
  .array(fc.boolean(), { minLength: LISTED_SLUGS.length, maxLength: LISTED_SLUGS.length })
  .map((isPublic) =>
    LISTED_SLUGS.map((model, index) => ({
      model_permaslug: model,
      aliases: model.length < 100 ? [`alias-of-${model}`] : [],
      public: isPublic[index] ?? true,
    })),
  )

const dataset = fc.record({
  sources: fc.array(source, { minLength: 1, maxLength: 3 }),
  registry,
  layout: fc.integer({ min: 0, max: 2 ** 31 }),
})

const ENDINGS = ['csv', 'csv.gz', 'csv.zst', 'ndjson', 'jsonl.gz', 'ndjson.zst', 'jsonl', 'parquet']

/** Random numbers from a seed (mulberry32), so that a failing layout can be had again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function shuffled<Item>(items: Item[], random: (below: number) => number): Item[] {
  return items
    .map((item) => ({ item, key: random(2 ** 30) }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

/** Spreads the records of each source over files of mixed forms, in the order that `layout` makes of them. */
async function writeDataset(
  workspace: Workspace,
  sources: OracleSource[],
  models: RegistryModel[],
  layout: number,
): Promise<void> {
  const random = randomFrom(layout)
  const described = sources.map(({ visibility, timezone }, index) => ({
    name: `source-${index}`,
    schema: 'canonical',
    files: [`source-${index}/**/*`],
    visibility,
    timezone,
  }))
  await writeInput(
    workspace,
    'models.json',
    models.map((model) => ({ ...model, name: 'A model', author: 'Someone' })),
  )
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    max_rejected_share: 1,
    max_withheld_share: 1,
    sources: shuffled(described, random),
  })
  for (const [index, { records }] of sources.entries()) {
    const folder = join(workspace.input, `source-${index}`)
    await mkdir(folder)
    const files = Array.from({ length: 1 + random(4) }, (): RawRecord[] => [])
    for (const raw of shuffled(records, random)) files[random(files.length)]?.push(raw)
    for (const [number, content] of files.entries()) {
      const path = join(folder, random(2) === 0 ? 'deeper' : '.', `part ${number}.${ENDINGS[random(ENDINGS.length)]}`)
      const columns = shuffled([...COLUMNS, 'note'], random)
      await writeRecords(
        path,
        content.map((raw) => ({ ...raw, note: 'not, "ours"' })),
        {
          columns,
          quoteAll: random(2) === 0,
          newline: random(2) === 0 ? '\r\n' : '\n',
          jsonNumbers: random(2) === 0,
          asciiOnly: random(2) === 0,
          typedColumns: random(2) === 0,
        },
      )
    }
  }
}

/** What was published, or undefined where the build failed because there was nothing to publish. */
async function buildDataset(
  sources: OracleSource[],
  models: RegistryModel[],
  layout: number,
): Promise<{ csv: string; weekly: string; monthly: string; summary: BuildSummary } | undefined> {
  const workspace = await createWorkspace()
  try {
    await writeDataset(workspace, sources, models, layout)
    const summary = await buildIn(workspace, AS_OF)
    const [csv = '', weekly = '', monthly = ''] = await Promise.all(
      TABLES.map((table) => publishedCsv(workspace, table)),
    )
    return { csv, weekly, monthly, summary }
  } catch (error) {
    if (error instanceof BuildError && /publish/.test(error.message)) return undefined
    throw error
  } finally {
    await removeWorkspace(workspace)
  }
}

function expectAccounts(summary: BuildSummary, expected: OracleAnswer): void {
  const { records } = summary
  expect(records).toMatchObject({ read: expected.read, duplicates: expected.duplicates })
  const rejected = Object.fromEntries(Object.entries(records.rejected).filter(([, count]) => count > 0))
  expect(rejected).toEqual(expected.rejected)
  const withheld = records.withheld.reduce((total, model) => total + model.records, 0)
  const rejects = Object.values(rejected).reduce((total, count) => total + count, 0)
  // Nothing is dropped in silence: every record that was read is in exactly one account.
  expect(
    records.published +
      records.duplicates +
      records.private +
      withheld +
      rejects +
      records.before_dataset_start +
      records.not_yet_complete,
  ).toBe(records.read)
}

describe('the published ranking', () => {
  it(
    'equals that of the oracle, byte for byte, for any records in any order, in files of any format',
    async () => {
      let published = 0
      await fc.assert(
        fc.asyncProperty(dataset, async ({ sources, registry: models, layout }) => {
          const expected = expectedDataset(sources, models, AS_OF)
          // The oracle has everything in the order in which it was made up, the build in that of the layout.
          const built = await buildDataset(sources, models, layout)
          expect(built?.csv ?? '').toBe(expected.rows.length === 0 ? '' : expected.csv)
          if (built === undefined) return
          published += 1
          expect([built.weekly, built.monthly]).toEqual([expected.weekly, expected.monthly])
          expect(built.summary.content_hash).toBe(expected.content_hash)
          expect(built.summary.content_hash).toBe(`sha256:${sha256(built.csv)}`)
          expect(built.summary.rows).toBe(expected.rows.length)
          expect(built.summary.total_tokens).toBe(String([...expected.totals.values()].reduce((a, b) => a + b, 0n)))
          expectAccounts(built.summary, expected)
        }),
        { numRuns: RUNS, seed: SEED, endOnFailure: true },
      )
      expect(published).toBeGreaterThan(RUNS / 2)
    },
    TIMEOUT_MS,
  )
})
