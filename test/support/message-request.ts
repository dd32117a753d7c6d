/**
 * The corpus of bodies of POST /presets/{slug}/messages: `corpus/*.ndjson`, a rule of the specification a line.
 *
 * - `body` has the text "@" where each value of `accepts` and of `refuses` goes. Without a `body` the values are bodies.
 * - `{"$absent": 1}` means that the key is left out. `{"$text": [3, "x"]}` is "xxx", `{"$list": [3, "x"]}` is
 *   ["x", "x", "x"], `{"$concat": [one, other]}` joins lists, `{"$number": "1e999"}` is what JSON makes of that number.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'

const FOLDER = join(import.meta.dirname, '../server/schemas/message-request/corpus')
const ABSENT = Symbol('absent')

export interface Rule {
  /** Its part of the specification, then what it says. */
  name: string
  accepts: unknown[]
  /** Bodies with the faults that the answer lists. */
  refuses: { body: unknown; faults: string[] }[]
}

interface Line {
  rule: string
  body?: unknown
  accepts?: unknown[]
  refuses?: { values: unknown[]; faults: string[] }[]
}

/** The rules by the file that has them. */
export function messageRequestRules(): { section: string; rules: Rule[] }[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => {
      const lines = readFileSync(join(FOLDER, file), 'utf8').trimEnd().split('\n')
      return { section: file.replace('.ndjson', ''), rules: lines.map((line) => ruleOf(JSON.parse(line))) }
    })
}

function ruleOf({ rule, body = '@', accepts = [], refuses = [] }: Line): Rule {
  const put = (value: unknown) => placed(body, unpacked(value))
  return {
    name: rule,
    accepts: accepts.map(put),
    refuses: refuses.flatMap(({ values, faults }) => values.map((value) => ({ body: put(value), faults }))),
  }
}

function unpacked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(unpacked)
  const [[key, of] = ['', undefined]] = Object.entries(value)
  if (key === '$absent') return ABSENT
  if (key === '$number') return Number(of)
  if (key === '$concat') return (of as unknown[][]).flatMap((list) => unpacked(list) as unknown[])
  const [count, unit] = Array.isArray(of) ? of : []
  if (key === '$text') return String(unit).repeat(count)
  if (key === '$list') return Array(count).fill(unpacked(unit))
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unpacked(inner)]))
}

function placed(body: unknown, value: unknown): unknown {
  if (body === '@') return value
  if (typeof body !== 'object' || body === null) return body
  if (Array.isArray(body)) return body.map((inner) => placed(inner, value))
  const entries = Object.entries(body).map(([key, inner]) => [key, placed(inner, value)] as const)
  return Object.fromEntries(entries.filter(([, inner]) => inner !== ABSENT))
}

const ACCEPTED = messageRequestRules().flatMap(({ rules }) => {
  return rules.flatMap(({ accepts }) => accepts as Record<string, unknown>[])
})
const LISTS = ['messages', 'tools', 'plugins', 'stop_server_tools_when', 'system', 'stop_sequences']

/** Bodies that must be accepted, as they come out of `JSON.parse`: any accepted ones of the corpus in one. */
export const validMessageRequest: fc.Arbitrary<Record<string, unknown>> = fc
  .array(fc.constantFrom(...ACCEPTED), { minLength: 1, maxLength: 8 })
  .map((bodies) => Object.entries(Object.assign({}, ...bodies, joined(bodies))))
  .chain((entries) => fc.shuffledSubarray(entries, { minLength: entries.length }))
  .map((entries) => {
    // Models and fallbacks exclude each other.
    const hasFallbacks = entries.some(([key, value]) => key === 'fallbacks' && value !== null)
    const compatible = entries.filter(([key]) => key !== 'models' || !hasFallbacks)
    return JSON.parse(JSON.stringify(Object.fromEntries(compatible)))
  })

/** The lists of several bodies, each as one. */
function joined(bodies: Record<string, unknown>[]): Record<string, unknown> {
  const all = LISTS.map((key) => [key, bodies.map((body) => body[key]).filter(Array.isArray)] as const)
  return Object.fromEntries(all.filter(([, lists]) => lists.length > 1).map(([key, lists]) => [key, lists.flat()]))
}

const JUNK = [null, true, 0, -1, 1.5, 2 ** 53, '', 'x', [], {}, [null], [[]], [{}], { type: 'x' }, { id: 'x' }]
const junk = fc.oneof(
  fc.constantFrom<unknown>(...JUNK),
  fc.constantFrom<unknown>('x'.repeat(257), Array(2000).fill('*'), Array(100).fill({ type: 'tool_result' })),
  fc.constant(nested(1200)),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Arrays and objects in turn, `depth` levels deep. */
export function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { type: value }
  return value
}

/** A change at one spot of a JSON value; the numbers choose the spot. */
const mutation = fc.record({
  spot: fc.nat(),
  change: fc.constantFrom('replace', 'remove', 'add', 'duplicate'),
  key: fc.oneof(
    fc.constantFrom('type', 'id', 'content', '__proto__', 'constructor', 'length', 'toString'),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  ),
  value: junk,
})

/** Valid bodies after a few changes at any depth: some are still valid, most are not. */
export const mutatedMessageRequest: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(validMessageRequest, fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([request, mutations]) => {
    for (const { spot, change, key, value } of mutations) {
      const containers = containersIn(request)
      const container = containers[spot % containers.length] ?? request
      const keys = Object.keys(container)
      const existing = keys[spot % keys.length]
      if (existing === undefined || change === 'add') define(container, key, value)
      else if (change === 'remove') Reflect.deleteProperty(container, existing)
      else if (change === 'replace') define(container, existing, value)
      else define(container, key, container[existing])
    }
    return JSON.parse(JSON.stringify(request))
  })

/** All objects and arrays of a JSON value down to a depth that valid bodies reach. */
function containersIn(value: unknown, depth = 12): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null || depth === 0) return []
  return [value as Record<string, unknown>, ...Object.values(value).flatMap((child) => containersIn(child, depth - 1))]
}

/** Sets an own key, `__proto__` too, as `JSON.parse` does, to a copy of `value`. */
function define(container: object, key: string, value: unknown): void {
  if (Array.isArray(container) && key === 'length') return
  Object.defineProperty(container, key, {
    value: JSON.parse(JSON.stringify(value)),
    enumerable: true,
    writable: true,
    configurable: true,
  })
}
