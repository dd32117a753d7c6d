/**
 * What is read of a corpus of odd records, through each schema and format, is pinned beside the numbers of the readings. It
 * cannot change while its number stays: installations would keep what the earlier version read. `-u` writes the golden
 * file, once the numbers are right.
 */
import { readFileSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readStatement } from '../../pipeline/base/statements.ts'
import { literal } from '../../pipeline/raw/schemas/expression.ts'
import { SCHEMAS } from '../../pipeline/raw/schemas/index.ts'
import type { Schema } from '../../pipeline/raw/schemas/schema.ts'
import { ABSENT, jsonValue, textValue } from '../../pipeline/raw/schemas/value.ts'
import { CLICKHOUSE_READING_VERSION, READING_VERSION } from '../../pipeline/rollup/reading.ts'
import { CORPUS, type Corpus, writeCorpus } from '../support/corpus.ts'
import { acceptSameRequests, buildIn, newWorkspace, sha256 } from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'
import { unreadable } from '../support/schemas.ts'

const GOLDEN = join(import.meta.dirname, 'what-is-read.golden.json')

/** What the golden file says of one number. */
interface Entry {
  /** The number, and where it is raised. */
  reading: number
  /** Of the SQL, without comments and white space. */
  sql: string
  corpus?: string
  /** What is read of the corpus. */
  read?: string
}

function shortHash(content: unknown): string {
  return sha256(JSON.stringify(content)).slice(0, 16)
}

/** A statement without comments and white space, neither of which changes what is read. */
function bare(sql: string): string {
  return sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim()
}

/** The SQL of all that is kept of the records of a schema, in a text file and in JSON. */
function sqlOfSchema(name: keyof typeof SCHEMAS): string[] {
  const { record, parts_disagree = {}, parts = {}, notes = {} }: Schema = SCHEMAS[name]
  const ofNotes = Object.entries(notes).flatMap(([kind, note]) => {
    return Object.entries(note).map(([part, expression]) => [`${kind}.${part}`, expression] as const)
  })
  const fields: (readonly [string, { sql: (columns: never) => string }])[] = [
    ...Object.entries(record),
    ...Object.entries(parts_disagree),
    ...Object.entries(parts).map(([part, expression]) => [`part.${part}`, expression] as const),
    ...ofNotes,
  ]
  const once = (sql: string) => sql
  const values = [
    (column: string) => textValue(`"${column}"`, undefined),
    (column: string) => jsonValue(`"${column}"`, undefined),
    () => ABSENT,
  ]
  return values.flatMap((value) => fields.map(([field, { sql }]) => `${field}: ${bare(sql(settled({ value, once })))}`))
}

/** What a schema may ask of its columns beside their values: a setting of the source stands for itself. */
function settled(columns: object): never {
  const nested = (json: string) => jsonValue(json, undefined)
  return { setting: (name: string) => `setting(${name})`, constant: literal, nested, ...columns } as never
}

/** The entry of the code that all schemas share. */
const COMMON = 'common'

const COMMON_SQL = [
  'macros/define',
  'ingest/usage',
  'ingest/csv',
  'ingest/ndjson',
  'ingest/parquet',
  'count/sums',
  'count/sums_of_rollup',
  'surplus/identified_usage',
]

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

/** The entries as they are now: of the code that all schemas share, and of each schema. */
async function currentEntries(): Promise<Record<string, Entry>> {
  const read = new Map<string, unknown[]>()
  for (const corpus of CORPUS) for (const [source, rows] of await readCorpus(corpus)) read.set(source, rows)
  const sources = CORPUS.flatMap((corpus) => corpus.sources)
  const entry = (reader: string, reading: number, sql: unknown): Entry => {
    const own = sources.filter((source) => source.reader === reader)
    return {
      reading,
      sql: shortHash(sql),
      corpus: shortHash(own),
      read: shortHash(own.map(({ name }) => read.get(name))),
    }
  }
  const names = ['day', 'records', 'contributor', 'no_contributor']
  const question = names.map((name) => bare(readStatement(`clickhouse/${name}`)))
  return {
    [COMMON]: entry(
      COMMON,
      READING_VERSION,
      COMMON_SQL.map((name) => bare(readStatement(name))),
    ),
    clickhouse: { reading: CLICKHOUSE_READING_VERSION, sql: shortHash(question) },
    ...Object.fromEntries(
      Object.entries(SCHEMAS).map(([name, { reading }]) => {
        return [name, entry(name, reading, sqlOfSchema(name as keyof typeof SCHEMAS))]
      }),
    ),
  }
}

/** The number of the code that all schemas share. */
function readingOf({ [COMMON]: entry }: Record<string, Entry>): number | undefined {
  return entry?.reading
}

/** Where the number of an entry stands. */
function placeOf(name: string): string {
  if (name === COMMON) return 'READING_VERSION in pipeline/rollup/reading.ts'
  if (name === 'clickhouse') return 'CLICKHOUSE_READING_VERSION in pipeline/rollup/reading.ts'
  return `reading of pipeline/raw/schemas/${name}.json`
}

it('what is read of the corpus changes only together with the number of the reading', async () => {
  const golden: Record<string, Entry> = JSON.parse(readFileSync(GOLDEN, 'utf8'))
  const current = await currentEntries()
  // Where the shared code has a new number all is read again, whatever the numbers of the schemas are.
  const isAllRaised = readingOf(current) !== readingOf(golden)
  const isShared = current[COMMON]?.sql !== golden[COMMON]?.sql
  const comparable = Object.entries(current).flatMap(([name, entry]) => {
    const was = golden[name]
    if (was === undefined || was.reading !== entry.reading || isAllRaised) return []
    return [{ name, entry, was, isChanged: isShared || was.sql !== entry.sql }]
  })
  // Of a question to ClickHouse nothing is read here, so any change of it counts.
  const forgotten = comparable.filter(({ entry, was }) => {
    return entry.corpus === undefined ? was.sql !== entry.sql : was.corpus === entry.corpus && was.read !== entry.read
  })
  const places = forgotten.map(({ name }) => placeOf(name))
  expect(
    places,
    `records are read differently than before: raise ${places.join(', ')}, then write the golden file with -u`,
  ).toEqual([])
  const unknown = comparable.filter(({ entry, was, isChanged }) => was.corpus !== entry.corpus && isChanged)
  expect(
    unknown.map(({ name }) => name),
    'the corpus and the code changed together, so nobody can tell what is read differently: write the golden file with ' +
      '-u for the new corpus and the previous code first, or raise the numbers',
  ).toEqual([])
  const changed = Object.entries(current).filter(([name, { reading, sql }]) => {
    return golden[name]?.sql !== sql && golden[name]?.reading === reading
  })
  const hints = changed.map(([name]) => `, where a record may be read differently raise ${placeOf(name)}`)
  await expect(
    `${JSON.stringify(current, undefined, 2)}\n`,
    `the golden file is not current${hints.join('')}: write it with -u`,
  ).toMatchFileSnapshot(GOLDEN)
})
