import { attributePrefix, compile, levelOf, type Own, placeOf } from './compile.ts'
import type { Place } from './expression.ts'
import { MAPPINGS, SCHEMAS, type SchemaName } from './index.ts'
import {
  type ColumnMapping,
  isName,
  isPaths,
  Mapping,
  ownField,
  ownPath,
  ownText,
  type Test,
  type Tests,
  type Where,
} from './mapping.ts'
import { type Schema, schemaColumns } from './schema.ts'

/** The settings of a source that change its schema. */
export interface Mapped {
  schema: SchemaName | 'rollup-files'
  columns: Readonly<Record<string, ColumnMapping>>
  where?: Where | undefined
  unnest?: string | undefined
  /** Set if no contributor is read from the records. */
  contributors?: 'keys' | 'exempt' | 'none' | undefined
}

const known = new WeakMap<Mapped, Schema>()

/** The schema of a source, with its own paths and conditions. */
export function schemaOf(source: Mapped): Schema {
  const { schema } = source
  if (schema === 'rollup-files' || !isOwn(source)) return SCHEMAS[schema]
  const found = known.get(source) ?? compile(Mapping.parse(ownMapping(MAPPINGS[schema], source)), ownOf(source))
  known.set(source, found)
  return found
}

/** The conditions of a source, and the paths of its columns: the alternatives, and each path that is added. */
function ownOf({ columns, where = {} }: Pick<Mapped, 'columns' | 'where'>): Own {
  const paths = Object.values(columns)
    .filter((mapping) => renamed(mapping) === undefined)
    .map((mapping) => asPaths(pathsOf(mapping)))
  const alternatives = paths.map((all) => all.filter((path) => !path.startsWith('+')))
  const added = paths.flat().filter((path) => path.startsWith('+'))
  return {
    where: Array.isArray(where) ? where.map(ownTests) : ownTests(where),
    named: [...alternatives, ...added.map((path) => [path.slice(1)])],
  }
}

/** As many as an integer has bits. */
const PATHS_COUNTED = 62

/**
 * The paths that a source names in `columns` and `where`, as it writes them, with the places that they lead to. Paths of
 * which one is enough are one, and those that a record may lack are not in it.
 */
export function ownPlaces({ columns, where = {} }: Omit<Mapped, 'schema'>): { text: string; places: Place[] }[] {
  const named = Object.entries(columns).flatMap(([column, mapping]) => {
    if (renamed(mapping) !== undefined) return [{ paths: [String(mapping)], places: [placeOf(column)] }]
    const paths = [pathsOf(mapping)].flat()
    const alternatives = paths.filter((path) => !path.startsWith('+'))
    const added = paths.filter((path) => path.startsWith('+'))
    return [alternatives, ...added.map((path) => [path])].map((each) => ({
      paths: each,
      places: each.map((path) => placeOf(ownField(path.replace(/^\+/, '')))),
    }))
  })
  const tested = [where].flat().flatMap((tests) => Object.entries(tests))
  const needed = tested.filter(([, test]) => ![test].flat().some(isOfPresence)).map(([path]) => path)
  const all = [...named, ...[...new Set(needed)].map((path) => ({ paths: [path], places: [placeOf(ownField(path))] }))]
  return all.slice(0, PATHS_COUNTED).map(({ paths, places }) => {
    return { text: paths.map((path) => JSON.stringify(path)).join(' or '), places }
  })
}

function ownTests(tests: Tests): Tests {
  return Object.fromEntries(Object.entries(tests).map(([path, test]) => [ownField(path), test]))
}

/** The lists that the records of a source are in, the outermost first. */
export function listsOf({ schema, unnest }: Mapped): string[] {
  const own = unnest ?? (schema === 'rollup-files' ? undefined : MAPPINGS[schema].unnest)
  return own === undefined
    ? []
    : own
        .split('[]')
        .slice(0, -1)
        .map((list) => list.replace(/^\./, ''))
}

/** Keys of lines that have no records. */
export function keysWithoutRecords({ schema }: Mapped): readonly string[] {
  return schema === 'rollup-files' ? [] : (MAPPINGS[schema].without_records ?? [])
}

/** Whether a record may also stand by itself, outside of these lists. */
export function mayBeUnwrapped(source: Mapped): boolean {
  if (listsOf(source).length === 0) return true
  const { schema, unnest } = source
  return unnest === undefined && schema !== 'rollup-files' && MAPPINGS[schema].may_be_unwrapped === true
}

/** Whether a source maps more than names of columns, so that its schema has texts of a user. */
export function isOwn({ columns, where }: Mapped): boolean {
  const asks = where !== undefined || CONTRIBUTOR in columns
  return asks || Object.values(columns).some((mapping) => renamed(mapping) === undefined)
}

/** Whether it is read from the records of a source whose usage they are. */
export function readsContributor(source: Mapped): boolean {
  return source.contributors === undefined && schemaOf(source).record.contributor !== undefined
}

/** Whether the records of a source are sums of buckets of time, which may overlap. */
export function sumsBuckets(source: Mapped): boolean {
  return schemaOf(source).record.bucket_end !== undefined
}

/** Whether the contributors that are read are end users, as callers sent them. A column that the source names has customers. */
export function namesEndUsers({ schema, columns = {} }: Pick<Mapped, 'schema'> & Partial<Mapped>): boolean {
  if (CONTRIBUTOR in columns || schema === 'rollup-files') return false
  const { contributor } = MAPPINGS[schema]
  return contributor !== undefined && !isPaths(contributor) && contributor.is === 'end_user'
}

/** Texts that stand for nobody in the column that the contributor is read from. */
export function absentContributors({ schema }: Pick<Mapped, 'schema'>): readonly string[] {
  const contributor = schema === 'rollup-files' ? undefined : MAPPINGS[schema].contributor
  return contributor === undefined || isPaths(contributor) ? [] : (contributor.absent ?? [])
}

/** The columns that a source may map: those of its schema, and the contributor. */
export function mappableColumns(schema: SchemaName): string[] {
  return [...new Set([...schemaColumns(SCHEMAS[schema]), CONTRIBUTOR])]
}

/** The name that a schema's column has in the source's files. */
export function fileColumn({ columns }: Pick<Mapped, 'columns'>, column: string): string {
  return ownText(column) ?? renamed(columns[column]) ?? column
}

/** The levels of paths in lists: of the line, and of the elements of each list, the innermost last. */
export function levelsOf(lists: readonly string[]): string[] {
  return [
    '$.',
    ...lists.map((_, depth) =>
      lists
        .slice(0, depth + 1)
        .map((list) => `${list}[].`)
        .join(''),
    ),
  ]
}

/** What is wrong with the paths of a source, by its key. */
export function problemsOf(source: Mapped & { schema: SchemaName }): { path: string[]; problem: string }[] {
  const problems = Object.entries(source.columns).flatMap(([column, own]) => {
    const problem = problemOf(MAPPINGS[source.schema], column, own)
    return problem === undefined ? [] : [{ path: ['columns', column], problem }]
  })
  const tests = [source.where ?? {}].flat().flatMap((each) => Object.entries(each))
  const unfit = tests.filter(
    ([path, test]) => attributePrefix(path) !== undefined && [test].flat().some((each) => !isOfPresence(each)),
  )
  const all = [
    ...problems,
    ...unfit.map(([path]) => ({ path: ['where', path], problem: 'ends with a star, so only "present" can be asked' })),
  ]
  if (all.length > 0) return all
  const levels = levelsOf(listsOf(source))
  const other = schemaColumns(schemaOf(source))
    .map((column) => levelOf(fileColumn(source, column)))
    .find(({ level }) => level !== '' && !levels.includes(level))
  if (other === undefined) return []
  const { level, rest } = other
  return [{ path: ['unnest'], problem: `has no list ${level.slice(0, -1)}, which the path ${level}${rest} is in` }]
}

function problemOf(mapping: Mapping, column: string, own: ColumnMapping): string | undefined {
  if (renamed(own) !== undefined) return undefined
  const { data, success } = Mapping.safeParse(ownMapping(mapping, { columns: { [column]: own } }))
  if (!success) return 'cannot have these paths: only tokens can be sums, only the time has a unit'
  return schemaColumns(compile(data)).includes(column) ? 'can only be renamed' : undefined
}

function isOfPresence(test: Test): boolean {
  return 'not' in test ? isOfPresence(test.not) : 'present' in test
}

/** A plain name: a column that is only called otherwise. */
function renamed(mapping: ColumnMapping | undefined): string | undefined {
  return typeof mapping === 'string' && isName(mapping) ? mapping : undefined
}

function pathsOf(mapping: ColumnMapping): string | string[] {
  return isPaths(mapping) ? mapping : mapping.path
}

function asPaths(paths: string | string[]): string[] {
  return [paths].flat().map(ownPath)
}

function asOwn(mapping: ColumnMapping): unknown {
  const paths = asPaths(pathsOf(mapping))
  return isPaths(mapping) ? paths : { ...mapping, path: paths }
}

/** The column that every source may map: a source that does never mixes it with that of its schema. */
const CONTRIBUTOR = 'contributor'

/** Members of a mapping that say where fields of a record are. */
const FIELDS = [
  'timestamp',
  'bucket_end',
  'model_permaslug',
  'tokens',
  'request_id',
  'visibility',
  'api_key_hash',
  'contributor',
  'cost_usd',
  'is_byok',
  'updated_at',
] as const

/** Members of fields whose texts are not paths. */
const WORDS = new Set(['unit', 'to', 'when', 'absent', 'is'])

/** Members whose texts are parts of an id: paths in place of one are alternatives, not more parts. */
const JOINED = new Set(['of', 'with'])

/** A column of contributors in place of that of a schema. What stands for nobody there does so here. */
function ownContributor({ contributor }: Mapping): Mapping['contributor'] {
  if (contributor === undefined || isPaths(contributor)) return CONTRIBUTOR
  return { ...contributor, path: CONTRIBUTOR }
}

/** Times of which each is in the unit of its schema, unless its source says another. */
function inUnits(times: readonly unknown[], unit: unknown): unknown {
  if (times.every((time) => typeof time === 'string')) return { path: times, unit }
  return times.map((time) => (typeof time === 'string' ? { path: time, unit } : time))
}

/** The paths of a part of an id, which has times as they are written. */
function withoutUnits(part: unknown): unknown[] {
  return [part]
    .flat()
    .flatMap((each) => (typeof each === 'object' && each !== null && 'path' in each ? each.path : each))
}

/** A mapping with the paths of a source in place of the columns that they are for. */
function ownMapping(schemas: Mapping, { columns }: Pick<Mapped, 'columns'>): unknown {
  const mapping = CONTRIBUTOR in columns ? { ...schemas, contributor: ownContributor(schemas) } : schemas
  const own = new Map(Object.entries(columns).filter(([, each]) => renamed(each) === undefined))
  const replace = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const paths = own.get(value)
      return paths === undefined ? value : asOwn(paths)
    }
    if (Array.isArray(value)) return value.flatMap(replace)
    // What a rule reads is a column, not a path.
    if (typeof value !== 'object' || value === null || 'rule' in value) return value
    if ('unit' in value && 'path' in value) return inUnits([replace(value.path)].flat(), value.unit)
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        if (WORDS.has(key)) return [key, member]
        return [key, JOINED.has(key) ? member.map((part: unknown) => withoutUnits(replace(part))) : replace(member)]
      }),
    )
  }
  const fields = FIELDS.map((field) => [field, replace(mapping[field])])
  return { ...mapping, ...Object.fromEntries(fields), required: mapping.required.filter((column) => !own.has(column)) }
}
