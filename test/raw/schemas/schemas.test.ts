/** What the schemas have in common: which lines they reject, and which names and ids they take for the same. */
import { expect, it } from 'vitest'
import { listsOf } from '../../../pipeline/raw/schemas/of-source.ts'
import {
  buildLogs,
  having,
  type LogRecord,
  named,
  PATHS,
  RECORDS,
  type SchemaName,
  toLines,
} from '../../support/schemas.ts'

const NAMES = Object.keys(RECORDS) as SchemaName[]

/** Wrong records of a schema and the reason for which each is rejected. */
function wrongRecords(name: SchemaName): [what: string, reason: string, line: LogRecord | string][] {
  const { model, time, completion, id } = PATHS[name]
  const record: LogRecord = RECORDS[name]
  const another = having(record, id, 'another')
  // A span may say only the model that was asked for.
  const silent = name === 'otel-genai-spans' ? having(another, ['attributes', 'gen_ai.request.model'], null) : another
  // Rows of API Management without a model have messages.
  const noModel: [string, string, LogRecord] = ['no model', 'invalid_model', having(silent, model, null)]
  // An object that should have a list of records is none without it.
  const isInLists = listsOf({ schema: name, columns: {} }).length > 0
  const ofNothing = isInLists ? 'unreadable_document' : 'invalid_timestamp'
  const other = isInLists ? 'unreadable_document' : 'malformed_record'
  return [
    ...['-1', '1.5', 'many', true, 1e300].map((count): [string, string, LogRecord] => [
      `a count of ${count}`,
      'invalid_token_count',
      having(named(name, 'wrong'), completion, count),
    ]),
    ...(['azure-apim-llm-logs', 'vertex-ai-logs'].includes(name) ? [] : [noModel]),
    ['a number for a model', 'invalid_model', having(silent, model, 5)],
    ['no timestamp', 'invalid_timestamp', having(record, time, null)],
    ['a timestamp that is none', 'invalid_timestamp', having(record, time, 'yesterday')],
    ['a list', other, '[1, 2]'],
    ['a record in a list', other, `[${JSON.stringify(record)}]`],
    ['a text', other, '"text"'],
    ['a number', other, '5'],
    ['null', other, 'null'],
    ['no JSON', other, 'no JSON'],
    ['an object without anything', ofNothing, '{}'],
    ['an object of something else', ofNothing, '{"error": {"code": 404}}'],
  ]
}

/** Right records: names that begin with a space or are in capitals, and one of which both counts are null. */
function rightRecords(name: SchemaName): LogRecord[] {
  const { model, prompt, completion, id } = PATHS[name]
  const another = having(RECORDS[name], id, 'another')
  const failed = having(having(named(name, `${name} failed`), prompt, null), completion, null)
  return [having(RECORDS[name], model, ` ${name}`), having(another, model, 'ANOTHER'), failed]
}

it('rejects what is no record, compares names as written, and takes a count of null for 0, in every schema', async () => {
  const { rows, rejects } = await buildLogs(
    NAMES.map((schema) => {
      const wrong = wrongRecords(schema).map(([, , line]) => (typeof line === 'string' ? `${line}\n` : toLines([line])))
      return { schema, log: wrong.join('') + toLines(rightRecords(schema)) }
    }),
  )
  for (const [index, name] of NAMES.entries()) {
    const wrong = wrongRecords(name)
    const found = rejects[index]?.map(({ record, reason }) => [wrong[record - 1]?.[0], reason])
    expect(found?.toSorted(), name).toEqual(wrong.map(([what, reason]) => [what, reason]).toSorted())
  }
  // A record of Langfuse has a total too, which is the sum wherever it stands.
  const failed = '2025-06-01 langfuse-observations failed 10'
  const expected = NAMES.map((name) => `2025-06-01 ${name} 10`)
  const another = `2025-06-01 ANOTHER ${10 * NAMES.length}`
  expect(rows.toSorted()).toEqual([...expected, another, failed].toSorted())
})
