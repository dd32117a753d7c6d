import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../server/api/openapi/components.ts'
import { conflicts, differencesTable } from './differences.ts'
import { npmTypes, ownTypes } from './types.ts'

const text: JsonSchema = { type: 'string' }

function object(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return { type: 'object', properties, required }
}

function tagged(...branches: [tag: string, properties: Record<string, JsonSchema>][]): JsonSchema {
  return { anyOf: branches.map(([type, more]) => object({ type: { type: 'string', const: type }, ...more }, ['type'])) }
}

describe('differences between the types of an SDK and those of the API', () => {
  it('are in the table, one row for those of a kind, with what follows', () => {
    const limited = { type: 'string', maxLength: 256 } as const
    const own = {
      send: { request: object({ user: limited, top: text, kind: tagged(['a', {}]) }), response: object({}) },
    }
    const kind = tagged(['a', { x: text, y: text }], ['b', { z: text }])
    const newest = { send: { request: object({ user: text, kind }), response: object({ more: text }) } }
    const other = { send: { request: object({ user: text, kind, top: text }), response: object({}) } }
    const table = differencesTable({ send: 'POST /send' }, own, { npm: newest, PyPI: other })
    expect(table.split('\n').slice(2, -1)).toEqual([
      '| `POST /send`, parameters | npm, PyPI | has more values | `kind.type` (`b`) | 400 |',
      '| `POST /send`, parameters | npm, PyPI | has more keys | `kind<a>.x`, `kind<a>.y` | 400: they would change what the numbers mean |',
      '| `POST /send`, parameters | npm, PyPI | checks no limits | `user` | 400 beyond the limits |',
      '| `POST /send`, parameters | npm | lacks keys | `top` | reads them; other clients can send them |',
      '| `POST /send`, answer | npm | has more keys | `more` | sends them if the catalogue has them |',
    ])
  })

  it('are conflicts if the SDK would refuse an answer', () => {
    const own = { read: { request: object({}), response: object({ a: text, b: { type: ['string', 'null'] } }, ['b']) } }
    const response = object({ a: text, b: text, c: text }, ['a', 'b', 'c'])
    expect(conflicts(own, { read: { request: object({}), response } })).toEqual([
      'requires keys: `a`',
      'requires keys: `c`',
      'lacks values: `b` (`null`)',
    ])
  })

  it('are no conflicts with the newest SDK of npm', () => {
    expect(conflicts(ownTypes(), npmTypes())).toEqual([])
  })
})
