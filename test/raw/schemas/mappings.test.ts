/**
 * The SQL of random mappings against a plain evaluator of them, over records as columns of text and as members of JSON: more
 * of them with PROPERTY_RUNS=2000, others with PROPERTY_SEED=….
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { Database } from '../../../pipeline/base/database.ts'
import { withComputed } from '../../../pipeline/raw/scan.ts'
import { compile } from '../../../pipeline/raw/schemas/compile.ts'
import { type Columns, literal } from '../../../pipeline/raw/schemas/expression.ts'
import { Mapping, type Paths, type Test, type Where } from '../../../pipeline/raw/schemas/mapping.ts'
import { jsonValue, textValue } from '../../../pipeline/raw/schemas/value.ts'
import { pick, type Random, randomFrom, tries } from '../../support/property.ts'

const { numRuns, options } = tries({ share: 4 })
const RECORDS = 100
/** Columns of which paths lead into the last three. */
const COLUMNS = ['a', 'b', 'c', 'n', 'm', 'tags']
const PATHS = ['a', 'b', 'c', 'n.a', 'n.b', 'm.a.b', 'm.a.c.d', 'm.a[b]', 'tags[k]', 'tags[l.m]']
const WORDS = ['', '', '1', '2', '7', '12', '-1', '1.5', 'claude-x', 'hit', 'HIT']

type RawRecord = Record<string, unknown>

let folder = ''
let database: Database

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  const { signal } = new AbortController()
  database = await Database.open({ path: ':memory:', temporaryFolder: folder, memoryLimit: undefined, signal })
  return async () => {
    database.close()
    await rm(folder, { recursive: true, force: true })
  }
})

function some<Item>(random: Random, most: number, make: () => Item): Item[] {
  return Array.from({ length: 1 + Math.floor(random() * most) }, make)
}

function randomRecord(random: Random): RawRecord {
  const word = () => pick<unknown>(random, [...WORDS, null, 3, true])
  const asText = (value: object) => (random() < 0.2 ? JSON.stringify(value) : value)
  const deep = () => ({ b: word(), c: pick<unknown>(random, [asText({ d: word() }), { d: word() }, '{"d": ', null]) })
  const inner = () => pick<unknown>(random, [word(), asText(deep()), deep(), deep(), deep()])
  const members = { k: word(), 'l.m': word() }
  const listed = Object.entries(members).map(([key, value]) => ({ key, value: { stringValue: value } }))
  const outer = (...whole: unknown[]) => pick(random, [...whole, ...whole, ...whole, '', null, '{"a": 1', 'text', 7])
  return {
    ...{ a: word(), b: word(), c: word() },
    n: outer({ a: word(), b: word() }, { b: word() }, '{"a": "2"}'),
    m: outer({ a: inner() }),
    tags: outer(members, listed),
  }
}

function randomMapping(random: Random): Mapping {
  const path = () => pick(random, PATHS)
  const paths = (): string[] => some(random, 3, path)
  const counts = () => [...paths(), ...(random() < 0.3 ? [`+${path()}`] : [])]
  const test = (): Test =>
    pick<() => Test>(random, [
      () => ({ equal: pick(random, [2, 'hit', true]) }),
      () => ({ in: ['1', 'Hit'] }),
      () => ({ begins: 'Claude' }),
      () => ({ present: random() < 0.5 }),
      () => ({ not: test() }),
    ])()
  const tests = () =>
    Object.fromEntries(some(random, 2, () => [pick(random, [...PATHS, 'model_permaslug']), some(random, 2, test)]))
  const where = () => pick<() => Where>(random, [() => ({}), tests, () => some(random, 3, tests)])()
  const part = () => pick(random, [counts(), { path: counts(), at_least: counts(), when: where() }])
  return Mapping.parse({
    ...{ product: 'Any', records: 'Any', knowledge: [{ source: 'none', read: '2026-11-28' }], reading: 1 },
    ...{ timestamp: 'a', model_permaslug: paths(), where: where() },
    tokens: { input: counts(), output: counts(), outside: { cache_read: part(), cache_write: part() } },
    request_id: pick(random, [paths(), { of: some(random, 3, paths), with: some(random, 2, paths) }]),
  })
}

/** What a mapping says of one record, step by step. */
function evaluator(mapping: Mapping, record: RawRecord) {
  const decoded = (value: unknown): unknown => {
    if (typeof value !== 'string' || value === '') return value === '' ? null : value
    try {
      return JSON.parse(value)
    } catch {
      return value
    }
  }
  /** The column of a path, the keys in it, and the name of an attribute there. */
  const partsOf = (path: string) => {
    const [, outer = path, key] = /^([\w.]+)\[(.+)\]$/.exec(path) ?? []
    const [column = '', ...keys] = outer.split('.')
    return { column, keys, key }
  }
  /** All that a path leads through, the column first and the value last. */
  const onTheWay = (path: string): unknown[] => {
    const { column, keys, key } = partsOf(path)
    const outers: unknown[] = [record[column]]
    for (const name of keys) outers.push(Object(decoded(outers.at(-1)))[name])
    if (key === undefined) return outers
    const attributes = decoded(outers.at(-1))
    if (!Array.isArray(attributes)) return [...outers, Object(attributes)[key]]
    return [...outers, attributes.find((member) => member.key === key)?.value.stringValue]
  }
  const valueAt = (path: string): unknown => onTheWay(path).at(-1)
  const textAt = (path: string): string | null => {
    const value = valueAt(path) ?? null
    return value === null ? null : typeof value === 'object' ? JSON.stringify(value) : String(value)
  }
  const isPresent = (path: string) => (textAt(path) ?? '') !== ''
  const chosen = (paths: readonly string[]) => paths.find(isPresent) ?? (paths.at(-1) as string)
  const countAt = (path: string): number | null => {
    if (!isPresent(path)) return 0
    return /^\d+$/.test(textAt(path) ?? '') && typeof valueAt(path) !== 'boolean' ? Number(textAt(path)) : null
  }
  const add = (counts: (number | null)[]) =>
    counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0)
  const countOf = (paths: readonly string[]) => {
    const added = paths.filter((path) => path.startsWith('+')).map((path) => countAt(path.slice(1)))
    return add([countAt(chosen(paths.filter((path) => !path.startsWith('+')))), ...added])
  }
  const ofModel = [mapping.model_permaslug].flat() as string[]
  const passes = (path: string, test: Test): boolean => {
    if ('not' in test) return !passes(path, test.not)
    const text = textAt(path === 'model_permaslug' ? chosen(ofModel) : path)
    if ('present' in test) return test.present === ((text ?? '') !== '')
    if (text === null) return false
    if ('begins' in test) return text.toLowerCase().startsWith(test.begins.toLowerCase())
    if ('in' in test) return test.in.some((word) => String(word).toLowerCase() === text.toLowerCase())
    if ('equal' in test && test.equal === true) return ['true', '1'].includes(text.toLowerCase())
    return 'equal' in test && String(test.equal).toLowerCase() === text.toLowerCase()
  }
  const fits = (where: Where): boolean => {
    if (Array.isArray(where)) return where.some(fits)
    return Object.entries(where).every(([path, tests]) => [tests].flat().some((test) => passes(path, test)))
  }
  const isReadable = (paths: readonly string[]) =>
    paths.every((path) =>
      onTheWay(path)
        .slice(0, -1)
        .map(decoded)
        .every((value) => value === null || value === undefined || typeof value === 'object'),
    )
  return { textAt, chosen, add, countOf, fits, isReadable, isPresent }
}

function expectedOf(mapping: Mapping, record: RawRecord): unknown[] {
  const { textAt, chosen, add, countOf, fits, isReadable, isPresent } = evaluator(mapping, record)
  const { tokens, request_id: id, where } = mapping
  if ('rule' in tokens) throw new Error('no rule is random')
  const parts = Object.values(tokens.outside)
  const outside = parts.map((part) => {
    if (typeof part === 'string' || Array.isArray(part)) return countOf([part].flat())
    const counts = [countOf([part.path].flat()), countOf([part.at_least ?? []].flat())]
    if (!fits(part.when ?? {})) return 0
    return counts.includes(null) ? null : Math.max(...(counts as number[]))
  })
  const asked = (each: Where) => [each].flat().flatMap((tests) => Object.keys(tests))
  const inWhere = asked(where)
  const read = parts.flatMap((part) =>
    typeof part === 'string' || Array.isArray(part)
      ? part
      : [part.path, part.at_least ?? [], asked(part.when ?? {})].flat(),
  )
  const counted = [tokens.input, tokens.output, read].flat().map((path) => path.replace(/^\+/, ''))
  const text = (paths: Paths) => textAt(chosen([paths].flat())) || null
  const joined = (of: Paths[], others: Paths[]) =>
    of.every((paths) => [paths].flat().some(isPresent)) ? JSON.stringify([...of, ...others].map(text)) : null
  return [
    isReadable([...counted, ...inWhere]) ? add([countOf([tokens.input].flat()), ...outside]) : null,
    countOf([tokens.output].flat()),
    typeof id === 'object' && 'of' in id ? joined(id.of, id.with) : text(id as Paths),
    isReadable(inWhere) && !fits(where),
  ]
}

/** What the SQL of a mapping says of records. */
async function foundBy(mapping: Mapping, records: readonly RawRecord[], form: 'text' | 'json'): Promise<unknown[][]> {
  const isText = form === 'text'
  const computed = new Map<string, string>()
  const columns: Columns = {
    value: (column) => (isText ? textValue(column, undefined) : jsonValue(column, undefined)),
    nested: (json) => jsonValue(json, undefined),
    once: (sql) => {
      if (!computed.has(sql)) computed.set(sql, `computed_${computed.size}`)
      return computed.get(sql) ?? ''
    },
    setting: () => 'NULL::VARCHAR',
    constant: literal,
  }
  const { prompt_tokens, completion_tokens, request_id, is_left_out } = compile(mapping).record
  const fields = { prompt_tokens, completion_tokens, request_id, is_left_out }
  const selected = Object.entries(fields).map(([name, field]) => `${field?.sql(columns) ?? 'false'} AS ${name}`)
  const written = (value: unknown) => {
    if (!isText) return `${literal(JSON.stringify(value))}::JSON`
    return literal(value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  const rows = records.map((record) => `(${COLUMNS.map((column) => written(record[column])).join(', ')})`)
  const path = join(folder, 'found.json')
  const from = withComputed(computed, `FROM (VALUES ${rows.join(', ')}) AS raw(${COLUMNS.join(', ')})`)
  await database.execute(`COPY (SELECT ${selected.join(', ')} ${from}) TO '${path}' (FORMAT json)`)
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => {
    const row = JSON.parse(line)
    return [row.prompt_tokens, row.completion_tokens, row.request_id || null, row.is_left_out]
  })
}

it.each(['text', 'json'] as const)('records of %s are read by random mappings as these say', async (form) => {
  for (let run = 0; run < numRuns; run++) {
    const random = randomFrom(options.seed + run)
    const mapping = randomMapping(random)
    const records = Array.from({ length: RECORDS }, () => randomRecord(random))
    const found = await foundBy(mapping, records, form)
    for (const [position, record] of records.entries()) {
      const { tokens, request_id, where, model_permaslug } = mapping
      const what = JSON.stringify({ run, record, tokens, request_id, where, model_permaslug })
      expect(found[position], what).toEqual(expectedOf(mapping, record))
    }
  }
})
