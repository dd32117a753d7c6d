/** Raw records of every schema and what each counts: test/corpus/SCHEMA.ndjson. */
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SCHEMA_NAMES, SCHEMAS } from '../../../pipeline/raw/schemas/index.ts'
import {
  type CorpusCase,
  type CorpusLog,
  corpusCases,
  corpusForms,
  corpusLogs,
  recordsOf,
  SCHEMA_CORPUS,
} from '../../support/schema-corpus.ts'
import { buildLogs, type LogRecord, PATHS, type SchemaName } from '../../support/schemas.ts'

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

/** The first plain record of a log, which is to be there twice. */
function repeatedOf(schema: SchemaName, { cases }: CorpusLog): LogRecord[] {
  const [id = ''] = PATHS[schema].id
  const plain = cases.find(({ record = {}, expected }) => id in record && expected.tokens && !expected.note)
  return plain === undefined || plain.expected.disagrees !== undefined ? [] : recordsOf(schema, plain)
}

/** How often each text occurs. */
function countsOf(values: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length]))
}

/** Tokens by name. */
function sumsOf(tokens: readonly (readonly [name: string, tokens: number | string])[]): Record<string, number> {
  const byName = Map.groupBy(tokens, ([name]) => name)
  return Object.fromEntries([...byName].map(([name, same]) => [name, sum(same.map(([, count]) => Number(count)))]))
}

/** Where tokens of a case are expected: on a date, if the case says which. */
function placeOf({ what, expected: { model = what, date } }: CorpusCase): string {
  return date === undefined ? model : `${date} ${model}`
}

it('every schema has a corpus', () => {
  expect(readdirSync(SCHEMA_CORPUS).toSorted()).toEqual(SCHEMA_NAMES.map((name) => `${name}.ndjson`).toSorted())
})

describe.each(SCHEMA_NAMES)('%s', (schema) => {
  it('counts each record of its corpus as expected, and a duplicate once, in every format', async () => {
    const logs = corpusForms(schema).flatMap((form) => corpusLogs(schema, form))
    const repeated = logs.map((log) => repeatedOf(schema, log))
    const { rows, records, setAside, workspace } = await buildLogs(
      logs.map(({ log, ...rest }, index) => ({ ...rest, log: [...log, ...(repeated[index] ?? [])] })),
      '2026-06-10T12:00:00Z',
    )
    const cases = logs.flatMap((log) => log.cases)
    const places = new Set(cases.map(placeOf))
    const counted = rows.map((row): [string, string] => {
      const [, place = '', model = '', tokens = ''] = /^(\S+ (.*)) (\d+)$/.exec(row) ?? []
      return [places.has(place) ? place : model, tokens]
    })
    const expected = cases.map((each): [string, number] => [placeOf(each), each.expected.tokens ?? 0])
    expect(sumsOf(counted)).toEqual(sumsOf(expected.filter(([, tokens]) => tokens > 0)))

    const outcomes = cases.flatMap(({ expected: { outcome } }) => outcome ?? [])
    const { left_out = 0, ...rejected } = countsOf(outcomes)
    expect(records.left_out).toBe(left_out)
    expect(records.rejected).toEqual(rejected)
    const leftOut = logs.map((log) => log.cases.filter((each) => each.expected.outcome === 'left_out').length)
    expect(setAside.map(({ left_out = 0 }) => left_out)).toEqual(leftOut)
    expect(repeated.flat()).not.toEqual([])
    const duplicates = sum(cases.map((each) => each.expected.duplicates ?? 0))
    expect(records.duplicates).toBe(duplicates + repeated.flat().length)
    const reasons = cases.flatMap(({ expected: { disagrees } }) => disagrees ?? [])
    expect(records.token_parts_disagree).toEqual(countsOf(reasons))

    const detail = JSON.parse(await readFile(join(workspace.dataDir, 'state/quality.json'), 'utf8'))
    type Note = { kind: string; name: string; tokens: number | string }
    const ofNote = ({ kind, name, tokens }: Note) => [`${kind} ${name}`, tokens] as const
    const notes = cases.flatMap((each) => each.expected.note ?? [])
    expect(sumsOf(detail.reading_notes.map(ofNote))).toEqual(sumsOf(notes.map(ofNote)))
  })

  it('has a record for each way in which its parts may disagree', () => {
    const { parts_disagree = {} } = SCHEMAS[schema] as { parts_disagree?: object }
    const reasons = corpusCases(schema).flatMap(({ expected: { disagrees } }) => disagrees ?? [])
    expect([...new Set(reasons)].toSorted()).toEqual(Object.keys(parts_disagree).toSorted())
  })
})
