import { expect, it } from 'vitest'
import { type AvroRecord, avroFile } from '../../pipeline/base/avro.ts'
import { readAvro } from '../support/avro.ts'

const SCHEMA: AvroRecord = {
  type: 'record',
  name: 'thing',
  fields: [
    { name: 'id', type: 'long', 'field-id': 1 },
    { name: 'name', type: ['null', 'string'], 'field-id': 2 },
  ],
}

it('writes records, null among them, and the keys that it is given', () => {
  const ids = [0, -1, 1, -64, 64, 20_261_120_001_200, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
  const records = ids.map((id) => ({ id, name: id < 0 ? null : `ä${'x'.repeat(200)}` }))
  const file = avroFile(SCHEMA, records, { content: 'data' })
  expect(readAvro(file)).toEqual({
    metadata: { 'avro.schema': JSON.stringify(SCHEMA), 'avro.codec': 'null', content: 'data' },
    records,
  })
  expect(avroFile(SCHEMA, records, { content: 'data' })).toEqual(file)
})

it('writes integers as the specification of Avro does in its examples', () => {
  const ids = [0, -1, 1, -2, 2, -64, 64]
  const file = avroFile(
    { type: 'record', name: 'thing', fields: [{ name: 'id', type: 'int', 'field-id': 1 }] },
    ids.map((id) => ({ id })),
    {},
  )
  expect(file.subarray(0, -16).toString('hex')).toMatch(/00010203047f8001$/)
})

it.each([{ id: 0.5, name: null }, { id: 2 ** 53, name: null }, { id: 1, name: 2 }, { name: null }])(
  'refuses a record that is not of its type: %j',
  (record) => {
    expect(() => avroFile(SCHEMA, [record], {})).toThrow(/ is not of the Avro type /)
  },
)
