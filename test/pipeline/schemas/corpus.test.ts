/** Raw records of every schema and what each counts: test/corpus/SCHEMA.ndjson, one record a line. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SCHEMA_NAMES, SCHEMAS } from '../../../pipeline/schemas/index.ts'
import { REPOSITORY } from '../../support/pipeline.ts'
import { type BuiltTogether, buildLogs, type Form, having, type LogRecord, PATHS } from '../../support/schemas.ts'

const CORPUS = join(REPOSITORY, 'test/corpus')

interface Case {
  what: string
  settings?: LogRecord
  record: LogRecord
  expected: { tokens?: number; outcome?: string }
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

/** Builds the cases of a schema, those with the same settings as one source. */
function buildCorpus(schema: keyof typeof PATHS, form: Form): Promise<BuiltTogether> {
  const bySettings = Map.groupBy(casesOf(schema), ({ settings }) => JSON.stringify(settings))
  return buildLogs(
    [...bySettings.values()].map((cases) => ({
      schema,
      form,
      settings: cases[0]?.settings,
      log: cases.map((each) => logRecord(schema, each)),
    })),
    '2026-06-10T12:00:00Z',
  )
}

it('has a corpus of every schema, and of nothing else', () => {
  expect(readdirSync(CORPUS).toSorted()).toEqual(SCHEMA_NAMES.map((name) => `${name}.ndjson`).toSorted())
})

describe.each(SCHEMA_NAMES)('%s', (schema) => {
  const cases = casesOf(schema)

  it.each(['ndjson', 'csv'] as const)('counts each record of the corpus as it should, from %s', async (form) => {
    const { rows, records } = await buildCorpus(schema, form)
    const counted = rows.map((row) => /^\S+ (.*) (\d+)$/.exec(row)?.slice(1))
    const expected = cases.flatMap(({ what, expected: { tokens = 0 } }) => (tokens > 0 ? [[what, `${tokens}`]] : []))
    expect(counted.toSorted()).toEqual(expected.toSorted())
    const outcomes = Map.groupBy(
      cases.flatMap(({ expected: { outcome } }) => outcome ?? []),
      (outcome) => outcome,
    )
    const { left_out = [], ...rejected } = Object.fromEntries(outcomes)
    expect(records.left_out).toBe(left_out.length)
    expect(records.rejected).toEqual(
      Object.fromEntries(Object.entries(rejected).map(([reason, all]) => [reason, all?.length])),
    )
    expect(records.duplicates).toBe(0)
  })

  it('has a record for each way that its parts may disagree', () => {
    const { parts_disagree = {} } = SCHEMAS[schema] as { parts_disagree?: object }
    const told = cases.flatMap(({ expected }) => ('disagrees' in expected ? [expected.disagrees] : []))
    expect([...new Set(told)].toSorted()).toEqual(Object.keys(parts_disagree).toSorted())
  })
})
