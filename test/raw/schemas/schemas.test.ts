/** What each schema rejects and takes for the same (docs/sources.md). */
import { describe, expect, it } from 'vitest'
import {
  buildLogs,
  formsOf,
  having,
  type LogRecord,
  named,
  PATHS,
  RECORDS,
  type SchemaName,
  toLines,
} from '../../support/schemas.ts'

const NAMES = Object.keys(RECORDS) as SchemaName[]

describe.each(NAMES)('%s', (name) => {
  const record: LogRecord = RECORDS[name]
  const { model, time, prompt, completion, id } = PATHS[name]
  /** A second record of the schema, which the first does not replace. */
  const another = having(record, id, 'another')

  it('rejects what is no record, takes a count of null for 0, and compares names as they are written', async () => {
    // A span may say only the model that was asked for.
    const isInLists = !formsOf(name).includes('csv')
    const empty = isInLists ? 'malformed_record' : 'invalid_timestamp'
    const silent = name === 'otel-genai-spans' ? having(another, ['attributes', 'gen_ai.request.model'], null) : another
    const wrong: [what: string, reason: string, line: LogRecord | string][] = [
      ...['-1', '1.5', 'many', true, 1e300].map((count): [string, string, LogRecord] => [
        `a count of ${count}`,
        'invalid_token_count',
        having(named(name, 'wrong'), completion, count),
      ]),
      ['no model', 'invalid_model', having(silent, model, null)],
      ['a number for a model', 'invalid_model', having(silent, model, 5)],
      ['no timestamp', 'invalid_timestamp', having(record, time, null)],
      ['a timestamp that is none', 'invalid_timestamp', having(record, time, 'yesterday')],
      ['a list', 'malformed_record', '[1, 2]'],
      ['a record in a list', 'malformed_record', `[${JSON.stringify(record)}]`],
      ['a text', 'malformed_record', '"text"'],
      ['a number', 'malformed_record', '5'],
      ['null', 'malformed_record', 'null'],
      ['no JSON', 'malformed_record', 'no JSON'],
      ['an object without anything', empty, '{}'],
      ['an object of something else', empty, '{"error": {"code": 404}}'],
    ]
    const lines = wrong.map(([, , line]) => (typeof line === 'string' ? `${line}\n` : toLines([line])))
    const failed = having(having(named(name, 'failed'), prompt, null), completion, null)
    const right = [having(record, model, ' M'), another, failed]
    const { rows, records, rejects } = await buildLogs([{ schema: name, log: lines.join('') + toLines(right) }])
    const found = rejects[0]?.map(({ record, reason }) => [wrong[record - 1]?.[0], reason])
    expect(found?.toSorted()).toEqual(wrong.map(([what, reason]) => [what, reason]).toSorted())
    // A record of Langfuse has a total too, which is the sum wherever it stands.
    const others = name === 'langfuse-observations' ? ['2025-06-01 failed 10'] : []
    expect(rows.toSorted()).toEqual(['2025-06-01  M 10', ...others, '2025-06-01 m 10'])
    expect(records.rejected).toEqual({
      invalid_token_count: 5,
      invalid_model: 2,
      invalid_timestamp: isInLists ? 2 : 4,
      malformed_record: isInLists ? 8 : 6,
    })
  })
})

it('takes the same id of another UTC date for another request', async () => {
  const names: SchemaName[] = ['helicone-requests', 'otel-genai-spans']
  const { rows } = await buildLogs(
    names.map((schema) => {
      const line = JSON.stringify(having(RECORDS[schema], PATHS[schema].model, schema))
      const next = line
        .replace('2025-06-01', '2025-06-03')
        .replace('2025-06-02', '2025-06-04')
        .replace('17487792', '17489520')
      expect(next).not.toBe(line)
      return { schema, log: `${[line, next, next].join('\n')}\n` }
    }),
  )
  expect(rows).toEqual(['2025-06-01', '2025-06-03'].flatMap((date) => names.map((schema) => `${date} ${schema} 10`)))
})
