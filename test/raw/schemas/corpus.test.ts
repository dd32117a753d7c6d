/** Raw records of every schema and what each counts: test/corpus/SCHEMA.ndjson, one record a line. */
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MAPPINGS, SCHEMA_NAMES, SCHEMAS } from '../../../pipeline/raw/schemas/index.ts'
import { REPOSITORY } from '../../support/pipeline.ts'
import { type BuiltTogether, buildLogs, formsOf, having, type LogRecord, PATHS } from '../../support/schemas.ts'

const CORPUS = join(REPOSITORY, 'test/corpus')

interface Case {
  what: string
  settings?: LogRecord
  record: LogRecord
  expected: {
    tokens?: number
    outcome?: string
    disagrees?: string
    note?: { kind: string; name: string; tokens: number }
  }
}

function casesOf(schema: keyof typeof PATHS): Case[] {
  const lines = readFileSync(join(CORPUS, `${schema}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** The record as one of a model that is called as the case, with an id of its own. */
function logRecord(schema: keyof typeof PATHS, { what, record }: Case): LogRecord {
  const { model, id } = PATHS[schema]
  const named = having(record, model, what)
  return id[0] !== undefined && id[0] in named ? having(named, id, what) : named
}

/**
 * Builds the cases of a schema in every format, those with the same settings as one source. The first plain record of each
 * source is there twice.
 */
async function buildCorpus(schema: keyof typeof PATHS): Promise<BuiltTogether & { repeated: number }> {
  const bySettings = Map.groupBy(casesOf(schema), ({ settings }) => JSON.stringify(settings))
  const [id = ''] = PATHS[schema].id
  const logs = formsOf(schema).flatMap((form) =>
    [...bySettings.values()].map((cases) => {
      const plain = cases.find(({ record, expected }) => id in record && expected.tokens && !expected.note)
      const repeated = plain === undefined || plain.expected.disagrees !== undefined ? [] : [logRecord(schema, plain)]
      const log = [...cases.map((each) => logRecord(schema, each)), ...repeated]
      return { schema, form, settings: cases[0]?.settings, log, repeated: repeated.length }
    }),
  )
  const repeated = logs.reduce((sum, log) => sum + log.repeated, 0)
  return { ...(await buildLogs(logs, '2026-06-10T12:00:00Z')), repeated }
}

function multiplied(counts: Record<string, number>, by: number): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count * by]))
}

function countsOf(values: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length]))
}

/** The tokens of some notes by what they are about. */
function sumsOf(notes: readonly { kind: string; name: string; tokens: number | string }[]): Record<string, number> {
  const byName = Map.groupBy(notes, ({ kind, name }) => `${kind} ${name}`)
  return Object.fromEntries(
    [...byName].map(([name, same]) => [name, same.reduce((sum, { tokens }) => sum + Number(tokens), 0)]),
  )
}

it('has a corpus of every schema, and of nothing else', () => {
  expect(readdirSync(CORPUS).toSorted()).toEqual(SCHEMA_NAMES.map((name) => `${name}.ndjson`).toSorted())
})

it('counts spans alike, whether by themselves or in batches', () => {
  expect(MAPPINGS['otlp-batches'].tokens).toEqual(MAPPINGS['otel-genai-spans'].tokens)
})

describe.each(SCHEMA_NAMES)('%s', (schema) => {
  const cases = casesOf(schema)
  const forms = formsOf(schema)
  /** Counts of one format as those of all. */
  const inEveryForm = (counts: Record<string, number>) => multiplied(counts, forms.length)

  it('counts each record of the corpus as it should, and a repeated one once, in every format', async () => {
    const { rows, records, setAside, workspace, repeated } = await buildCorpus(schema)
    const counted = rows.map((row) => /^\S+ (.*) (\d+)$/.exec(row)?.slice(1))
    const expected = cases.flatMap(({ what, expected: { tokens = 0 } }) =>
      tokens > 0 ? [[what, `${forms.length * tokens}`]] : [],
    )
    expect(counted.toSorted()).toEqual(expected.toSorted())
    const perForm = setAside.length / forms.length
    for (const [form] of forms.entries())
      expect(setAside.slice(form * perForm, (form + 1) * perForm), forms[form]).toEqual(setAside.slice(0, perForm))
    const outcomes = countsOf(cases.flatMap(({ expected: { outcome } }) => outcome ?? []))
    const { left_out = 0, ...rejected } = inEveryForm(outcomes)
    expect(records.left_out).toBe(left_out)
    expect(records.rejected).toEqual(rejected)
    expect(repeated).toBeGreaterThan(0)
    expect(records.duplicates).toBe(repeated)
    const reasons = cases.flatMap(({ expected: { disagrees } }) => disagrees ?? [])
    expect(records.token_parts_disagree).toEqual(inEveryForm(countsOf(reasons)))
    const detail = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
    const notes = sumsOf(cases.flatMap(({ expected: { note } }) => note ?? []))
    expect(sumsOf(detail.reading_notes)).toEqual(inEveryForm(notes))
  })

  it('has a record for each way that its parts may disagree', () => {
    const { parts_disagree = {} } = SCHEMAS[schema] as { parts_disagree?: object }
    const told = cases.flatMap(({ expected }) => ('disagrees' in expected ? [expected.disagrees] : []))
    expect([...new Set(told)].toSorted()).toEqual(Object.keys(parts_disagree).toSorted())
  })
})
