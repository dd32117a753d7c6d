/** What each schema makes of its records (docs/sources.md), in every format that a file may have. */
import { describe, expect, it } from 'vitest'
import {
  buildLog,
  buildLogs,
  FORMS,
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

  it('is read from every format, a repeated delivery once', async () => {
    const { rows, records, setAside } = await buildLogs(
      FORMS.map((form) => {
        const ofForm = having(record, model, form)
        return { schema: name, log: [ofForm, ofForm, having(another, model, form)], form }
      }),
    )
    expect(rows).toEqual(FORMS.map((form) => `2025-06-01 ${form} 20`))
    expect(setAside).toEqual(FORMS.map(() => ({ duplicate: 1 })))
    expect(records).toMatchObject({ read: 12, published: 8, left_out: 0, rejected: {}, duplicates: 4 })
  })

  it('counts a token count of null as 0, and compares names as they are written', async () => {
    const failed = having(having(named(name, 'failed'), prompt, null), completion, null)
    const { rows, records } = await buildLog(name, [having(record, model, ' M'), another, failed])
    // A record of Langfuse has a total too, which is the sum wherever it stands.
    const others = name === 'langfuse-observations' ? ['2025-06-01 failed 10'] : []
    expect(rows.toSorted()).toEqual(['2025-06-01  M 10', ...others, '2025-06-01 m 10'])
    expect(records).toMatchObject({ published: 3, rejected: {} })
  })

  it('rejects what is no record, and one whose model, timestamp or token count is none', async () => {
    // A span may say only the model that was asked for.
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
      ['an object without anything', 'invalid_timestamp', '{}'],
      ['an object of something else', 'invalid_timestamp', '{"error": {"code": 404}}'],
    ]
    const lines = wrong.map(([, , line]) => (typeof line === 'string' ? `${line}\n` : toLines([line])))
    const { rows, records, rejects } = await buildLogs([{ schema: name, log: lines.join('') + toLines([record]) }])
    const found = rejects[0]?.map(({ record, reason }) => [wrong[record - 1]?.[0], reason])
    expect(found?.toSorted()).toEqual(wrong.map(([what, reason]) => [what, reason]).toSorted())
    expect(rows).toEqual(['2025-06-01 m 10'])
    expect(records.rejected).toEqual({
      invalid_token_count: 5,
      invalid_model: 2,
      invalid_timestamp: 4,
      malformed_record: 6,
    })
  })
})
