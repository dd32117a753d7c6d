import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ApiError, type RequestIssue } from '../../../../server/base/errors.ts'
import { parseMessageRequest } from '../../../../server/schemas/message-request/parse.ts'

/*
 * The tables of SPECIFICATION.md § Request body shape as tests: `shape` takes an object, key by key, and makes of each
 * key one test that is named after its rule and holds its positives and its negatives.
 */

/** The smallest request, with `more` in it. */
export function request(more: object = {}): Record<string, unknown> {
  return { model: 'm', messages: null, ...more }
}

/** The faults that the 400 for `body` lists; none when it is accepted. */
export function issuesOf(body: unknown): RequestIssue[] {
  try {
    parseMessageRequest(body)
    return []
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 400)) throw error
    const { issues } = error.metadata ?? {}
    return issues as RequestIssue[]
  }
}

/** The same as lines. */
export function faultsOf(body: unknown): string[] {
  return issuesOf(body).map(({ path, message }) => (path === '' ? message : `${path} ${message}`))
}

/** A value that does not fit a key: what is said of it, and below which part of the value. */
interface Refusal {
  value: unknown
  message: string
  below?: string
}

/** What a key may hold. */
export interface Kind {
  name: string
  accepts: unknown[]
  refuses: Refusal[]
  /** Says that the key must be there, and what is said when it is not. */
  required?: string
}

function kind(name: string, message: string, accepts: unknown[], refuses: unknown[]): Kind {
  return { name, accepts, refuses: refuses.map((value) => ({ value, message })) }
}

export const string = kind('string', 'must be a string', ['', 'text', 'é🙂\n\u0000'], [null, 0, true, {}, ['text']])
export const integer = kind(
  'integer',
  'must be an integer',
  [0, -1, 7, Number.MAX_SAFE_INTEGER],
  [null, 0.5, '7', true, {}, [], Infinity],
)
export const number = kind('number', 'must be a number', [0, -1, 0.1, 1e300], [null, '0.1', false, {}, [], -Infinity])
export const boolean = kind('boolean', 'must be a boolean', [true, false], [null, 0, 'true', {}, []])
export const object = kind('object', 'must be an object', [{}, { any: { key: [null] } }], [null, 'text', 1, false, []])
export const anything: Kind = { name: 'anything', accepts: [null, 0, '', false, [], {}, [[{}]]], refuses: [] }

export function oneOf(...values: string[]): Kind {
  const message = values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
  return {
    ...kind(values.join(', '), message, values, [null, 0, '', 'other', values[0]?.toUpperCase(), {}]),
    required: `is required and ${message}`,
  }
}

/** `oneOf` for a key that may be absent. */
export function optionalOneOf(...values: string[]): Kind {
  const { name, accepts, refuses } = oneOf(...values)
  return { name, accepts, refuses }
}

/** An integer or number that is at least `min` and at most `max`. */
export function within(inner: Kind, { min, max }: { min?: number; max?: number }): Kind {
  const low = min === undefined ? [] : [{ value: min - 1, message: `must be at least ${min}` }]
  const high = max === undefined ? [] : [{ value: max + 1, message: `must be at most ${max}` }]
  return {
    name: `${inner.name} of at least ${min}, at most ${max}`,
    accepts: [min, max].filter((bound) => bound !== undefined),
    refuses: [...inner.refuses, ...low, ...high],
  }
}

export function nullable({ name, accepts, refuses }: Kind): Kind {
  return {
    name: `${name} or null`,
    accepts: [...accepts, null],
    refuses: refuses.filter(({ value }) => value !== null),
  }
}

export function arrayOf(inner: Kind): Kind {
  return {
    name: `array of ${inner.name}`,
    accepts: [[], inner.accepts],
    refuses: [
      ...[null, 'text', {}, 1].map((value) => ({ value, message: 'must be an array' })),
      ...inner.refuses.map(({ value, message, below = '' }) => ({
        value: [inner.accepts[0], value],
        message,
        below: `[1]${below}`,
      })),
    ],
  }
}

/** A kind with examples and counterexamples of its own. */
export function special(name: string, accepts: unknown[], refuses: Refusal[], required?: string): Kind {
  return { name, accepts, refuses, ...(required === undefined ? {} : { required }) }
}

export function required(inner: Kind): Kind {
  return { ...inner, required: inner.required ?? 'is required' }
}

export const cacheControl = special(
  'cache_control',
  [{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '5m' }, { type: 'ephemeral', ttl: '1h', further: 1 }],
  [
    { value: null, message: 'must be an object' },
    { value: 'ephemeral', message: 'must be an object' },
    { value: {}, message: 'is required and must be ephemeral', below: '.type' },
    { value: { type: 'persistent' }, message: 'must be ephemeral', below: '.type' },
    { value: { type: 'ephemeral', ttl: '2h' }, message: 'must be one of 5m, 1h', below: '.ttl' },
    { value: { type: 'ephemeral', ttl: null }, message: 'must be one of 5m, 1h', below: '.ttl' },
  ],
)

/** Where an object stands in a request, and which branches of unions lead to it. */
export interface Place {
  /** Puts the object into the smallest request that may hold it. */
  in: (value: unknown) => Record<string, unknown>
  path: string
  branches?: string[]
}

/**
 * Tests an object of `place` key by key. `minimal` holds the required keys alone. Keys wrapped in `required` must be
 * there, any further key may be there with any value, unless `closed`. `besides` are values that may stand instead.
 */
export function shape(
  name: string,
  place: Place,
  minimal: object,
  keys: Record<string, Kind>,
  { closed = false, besides = [] }: { closed?: boolean; besides?: unknown[] } = {},
): void {
  const { path, branches = [] } = place
  const inBranch = branches.length === 0 ? '' : ` (${branches.join(' > ')})`
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)

  describe(name, () => {
    test('is accepted with its required keys alone', () => {
      expect(faultsOf(place.in(minimal))).toEqual([])
    })
    if (path !== '') {
      const others = [null, 1, 'text', []].filter((other) => !besides.some((value) => isDeepStrictEqual(value, other)))
      test.each(others.map((value) => [value]))('is an object, not %j', (value) => {
        expect(faultsOf(place.in(value))).toEqual([expect.stringMatching(/ must be .*an (object|array)/)])
      })
    }
    if (!closed) {
      test.each(anything.accepts)('may have a further key with %j', (further) => {
        expect(faultsOf(place.in({ ...minimal, further }))).toEqual([])
      })
    }
    for (const [key, of] of Object.entries(keys)) {
      const { accepts, refuses, required } = of
      test(`${key}: ${of.name}, ${required === undefined ? 'optional' : 'required'}`, () => {
        for (const value of accepts) expect(faultsOf(place.in({ ...minimal, [key]: value }))).toEqual([])
        for (const { value, message, below = '' } of refuses) {
          expect(faultsOf(place.in({ ...minimal, [key]: value }))).toEqual([`${at(key)}${below} ${message}${inBranch}`])
        }
        const without = Object.fromEntries(Object.entries(minimal).filter(([other]) => other !== key))
        const missing = required === undefined ? [] : [`${at(key)} ${required}${inBranch}`]
        expect(faultsOf(place.in(without))).toEqual(missing)
      })
    }
  })
}
