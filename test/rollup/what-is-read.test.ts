/**
 * What is read of a corpus of odd records, through each schema and format, is pinned beside the numbers of the readings. It
 * cannot change while its number stays: installations would keep what the earlier version read.
 */
import { readFileSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readStatement } from '../../pipeline/base/statements.ts'
import { SCHEMAS } from '../../pipeline/raw/schemas/index.ts'
import { CLICKHOUSE_READING_VERSION, READING_VERSION } from '../../pipeline/rollup/reading.ts'
import { CORPUS, type Corpus, writeCorpus } from '../support/corpus.ts'
import { acceptSameRequests, buildIn, newWorkspace, sha256 } from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'
import { unreadable } from '../support/schemas.ts'

/** The entry of the code that all schemas share. */
const COMMON = 'common'
const GOLDEN = join(import.meta.dirname, 'what-is-read.golden.json')

/** What the golden file says of one schema, of the code that all share, and of the questions to ClickHouse. */
interface Entry {
  reading: number
  /** A hash of what is read of the corpus. */
  read: string
}

function shortHash(content: unknown): string {
  return sha256(JSON.stringify(content)).slice(0, 16)
}

/** What a build of the corpus keeps of each source: sums, what duplicates counted too much, and notes. */
async function readCorpus(corpus: Corpus): Promise<Map<string, unknown[]>> {
  const workspace = await newWorkspace()
  await writeCorpus(workspace, corpus)
  // The ids of contributors depend on the secret.
  await mkdir(join(workspace.dataDir, 'disclosure'))
  await writeFile(join(workspace.dataDir, 'disclosure/secret.key'), '0'.repeat(64))
  await acceptSameRequests(
    workspace,
    corpus.sources.map(({ name }) => name),
  )
  const accept = [...unreadable(await readdir(workspace.input)), 'uncounted_source']
  await buildIn(workspace, '2025-06-30T12:00:00Z', {}, { accept })
  const path = join(workspace.dataDir, 'state/build.duckdb')
  await query(`ATTACH ${sqlText(path)} AS corpus (READ_ONLY)`)
  try {
    const rows = await query(`
      WITH kept AS (
        SELECT * FROM corpus.state_sums JOIN corpus.state_files USING (file_id)
        UNION ALL BY NAME
        SELECT *, 'surplus' AS reject_reason FROM corpus.state_surplus
      )
      SELECT source, name, day_number, reject_reason, model, visibility, api_key_hash, is_byok, parts_disagree,
        hex(contributor), sum(records), sum(identified_records), sum(tokens), sum(cost_usd), sum(misread_charges)
      FROM kept
      GROUP BY ALL
      ORDER BY ALL`)
    const notes = await query(`
      SELECT source, state_files.name, kind, state_notes.name, sum(records), sum(tokens)
      FROM corpus.state_notes JOIN corpus.state_files USING (file_id)
      GROUP BY ALL
      ORDER BY ALL`)
    const texts = [...rows, ...notes].map(
      (row) => [String(Object.values(row)[0]), Object.values(row).map(String)] as const,
    )
    return new Map([...Map.groupBy(texts, ([source]) => source)].map(([source, own]) => [source, own]))
  } finally {
    await query('DETACH corpus')
  }
}

async function currentEntries(): Promise<Record<string, Entry>> {
  const read = new Map<string, unknown[]>()
  for (const corpus of CORPUS) for (const [source, rows] of await readCorpus(corpus)) read.set(source, rows)
  const sources = CORPUS.flatMap((corpus) => corpus.sources)
  const entry = (name: string, reading: number): [string, Entry] => {
    const own = sources.filter(({ reader }) => reader === name)
    return [name, { reading, read: shortHash(own.map((source) => read.get(source.name))) }]
  }
  // Nothing is read of ClickHouse here, so any change of a question counts.
  const questions = ['day', 'records', 'contributor', 'no_contributor'].map((name) =>
    readStatement(`clickhouse/${name}`),
  )
  const bare = questions.map((sql) => sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim())
  return {
    ...Object.fromEntries([entry(COMMON, READING_VERSION)]),
    clickhouse: { reading: CLICKHOUSE_READING_VERSION, read: shortHash(bare) },
    ...Object.fromEntries(Object.entries(SCHEMAS).map(([name, { reading }]) => entry(name, reading))),
  }
}

it('what is read of the corpus changes only together with the number of the reading', async () => {
  const golden: Record<string, Entry> = JSON.parse(readFileSync(GOLDEN, 'utf8'))
  const current = await currentEntries()
  // Where the shared code has a new number all is read again, whatever the numbers of the schemas are.
  const isComparable = current[COMMON]?.reading === golden[COMMON]?.reading
  const changed = Object.entries(current).filter(([name, { reading, read }]) => {
    return isComparable && golden[name]?.reading === reading && golden[name]?.read !== read
  })
  expect(
    changed.map(([name]) => name),
    'records are read differently than before: raise these readings (in pipeline/raw/schemas/ or pipeline/rollup/reading.ts), ' +
      'then write the golden file with -u. Where only the corpus changed, take its entries out of the golden file first',
  ).toEqual([])
  await expect(`${JSON.stringify(current, undefined, 2)}\n`, 'write the golden file with -u').toMatchFileSnapshot(
    GOLDEN,
  )
})
