/** Where the types of SDKs differ from those of the API, and what follows from it. */
import { markdownTable } from '../../pipeline/base/markdown.ts'
import { type Field, type Fields, fieldsOf } from './fields.ts'
import type { Exchanges } from './types.ts'

type Part = 'parameters' | 'body' | 'answer'

interface Difference {
  /** What the SDK does otherwise. */
  kind:
    | 'has more keys'
    | 'has more values'
    | 'allows any other keys'
    | 'lacks keys'
    | 'lacks values'
    | 'checks no limits'
    | 'requires keys'
    | 'treats keys as optional'
  field: string
  values: readonly string[]
}

const REFUSED = 'the SDK refuses the answer'

/** What follows from each kind of difference. Those that are not here do not matter. */
const CONSEQUENCES: Record<Part, Partial<Record<Difference['kind'], string>>> = {
  parameters: {
    'has more keys': '400: they would change what the numbers mean',
    'has more values': '400',
    'lacks keys': 'reads them; other clients can send them',
    'checks no limits': '400 beyond the limits',
  },
  body: {
    'has more keys': 'ignores them, and a preset keeps them in objects that it keeps',
    'has more values': '400',
    'allows any other keys': '400: the specification closes the object',
    'treats keys as optional': '400 without them',
    'lacks keys': 'reads them; other clients can send them',
    'lacks values': 'reads them; other clients can send them',
    'checks no limits': '400 beyond the limits',
  },
  answer: {
    'has more keys': 'sends them if the catalogue has them',
    'has more values': 'never sends them',
    'lacks keys': 'sends them, and the SDK drops them',
    'lacks values': REFUSED,
    'requires keys': REFUSED,
    'treats keys as optional': 'always sends them',
  },
}

/** A Markdown table of all differences. `sdks` are by name and version, `operations` are names by `operationId`. */
export function differencesTable(
  operations: Record<string, string>,
  own: Exchanges,
  sdks: Record<string, Exchanges>,
): string {
  const rows = Object.entries(operations).flatMap(([operationId, operation]) => {
    const found = Object.entries(sdks).flatMap(([name, sdk]) =>
      differences(operationId, own, sdk).map((difference) => ({ ...difference, sdk: name })),
    )
    return rowsOf(found).map(([part, ...cells]) => [`\`${operation}\`, ${part}`, ...cells])
  })
  return markdownTable(['operation', 'SDK', 'what it does', 'which', 'this server'], rows)
}

interface FoundIn extends Difference {
  part: Part
  sdk: string
}

/** The differences of an operation. Fields that differ in the same way in the same SDKs share a row. */
function rowsOf(found: readonly FoundIn[]): string[][] {
  const sdksWith = (difference: FoundIn) =>
    found.filter(({ part, kind, ...other }) => {
      return part === difference.part && kind === difference.kind && textOf(other) === textOf(difference)
    })
  const namesWith = (difference: FoundIn) => sdksWith(difference).map(({ sdk }) => sdk)
  const rows = Map.groupBy(found, (each) => [each.part, namesWith(each).join(', '), each.kind].join('\n'))
  return [...rows].map(([row, same]) => {
    const consequences = new Set(same.map(({ part, kind }) => CONSEQUENCES[part][kind] ?? ''))
    return [...row.split('\n'), withoutRepeats(same.map(textOf)).join(', '), ...consequences]
  })
}

/** Differences because of which an SDK refuses answers, as lines. */
export function conflicts(own: Exchanges, sdk: Exchanges): string[] {
  const all = Object.keys(sdk).flatMap((operationId) => differences(operationId, own, sdk))
  const refused = all.filter(({ part, kind }) => CONSEQUENCES[part][kind] === REFUSED)
  return refused.map((difference) => `${difference.kind}: ${textOf(difference)}`)
}

function textOf({ field, values }: Pick<Difference, 'field' | 'values'>): string {
  return values.length === 0 ? `\`${field}\`` : `\`${field}\` (${values.map((value) => `\`${value}\``).join(' ')})`
}

/** An object that occurs in several places differs in all of them: the shortest path is enough. */
function withoutRepeats(texts: readonly string[]): string[] {
  const bySuffix = Map.groupBy(texts, (text) => /<[^<>`]*>[^<>`]*`.*$/.exec(text)?.[0] ?? text)
  return [...bySuffix.values()].map((same) => same.reduce((a, b) => (b.length < a.length ? b : a)))
}

function differences(operationId: string, own: Exchanges, sdk: Exchanges): (Difference & { part: Part })[] {
  const [here, there] = [own[operationId], sdk[operationId]]
  if (here === undefined || there === undefined) throw new Error(`there is no operation ${operationId}`)
  const request = '$ref' in here.request ? 'body' : 'parameters'
  const sent = fieldsOf(there.request)
  // The SDKs leave out parameters that are null.
  if (request === 'parameters') for (const { types } of sent.values()) types.delete('null')
  const found = [
    ...compare(fieldsOf(here.request), sent).map((each) => ({ ...each, part: request }) as const),
    ...compare(fieldsOf(here.response), fieldsOf(there.response)).map((each) => ({ ...each, part: 'answer' }) as const),
  ]
  return found.filter(({ part, kind }) => CONSEQUENCES[part][kind] !== undefined)
}

function compare(own: Fields, sdk: Fields): Difference[] {
  const more = matches(sdk, own).flatMap(({ path, field, other, extra }) => {
    if (other === undefined) return [differ(field.isRequired ? 'requires keys' : 'has more keys', path)]
    const isOpener = field.takesOtherKeys && !other.takesOtherKeys && other.types.has('object')
    return [
      ...(extra.length > 0 ? [differ('has more values', path, extra)] : []),
      ...(isOpener ? [differ('allows any other keys', path)] : []),
      ...(field.isRequired && !other.isRequired ? [differ('requires keys', path)] : []),
      ...(!field.isRequired && other.isRequired ? [differ('treats keys as optional', path)] : []),
    ]
  })
  const less = matches(own, sdk).flatMap(({ path, field, other, extra }) => {
    if (other === undefined) return [differ('lacks keys', path)]
    const isUnchecked = [...field.limits].some((limit) => !other.limits.has(limit))
    return [
      ...(extra.length > 0 ? [differ('lacks values', path, extra)] : []),
      ...(isUnchecked ? [differ('checks no limits', path)] : []),
    ]
  })
  return [...more, ...less]
}

function differ(kind: Difference['kind'], field: string, values: readonly string[] = []): Difference {
  return { kind, field, values }
}

interface Match {
  path: string
  field: Field
  /** The same field of the other side. */
  other: Field | undefined
  /** Types and fixed values that the other side does not have. */
  extra: string[]
}

/** The fields with those of the other side, without the parts of what the other side does not have or name. */
function matches(fields: Fields, others: Fields): Match[] {
  const ended: string[] = []
  return [...fields].flatMap(([path, field]) => {
    if (ended.some((begin) => path.startsWith(begin) && /^[.[<]/.test(path.slice(begin.length)))) return []
    const other = find(others, path)
    const extra = other === undefined ? [] : extraOf(field, other)
    const parent = path.replace(/\.[^.]*$/, '')
    if (other === undefined || other.types.size === 0) ended.push(path)
    ended.push(...extra.map((value) => `${parent}<${value}>`))
    return [{ path, field, other, extra }]
  })
}

/** Some schemas do not say how they tell the branches of a union apart. */
function find(fields: Fields, path: string): Field | undefined {
  return (
    fields.get(path) ??
    fields.get(withoutTag(path)) ??
    [...fields].find(([other]) => other !== path && withoutTag(other) === path)?.[1]
  )
}

function withoutTag(path: string): string {
  return path.replace(/<[^<>]*>(?=[^<>]*$)/, '')
}

function extraOf(field: Field, other: Field): string[] {
  if (other.types.size === 0) return []
  const types = [...field.types].filter(
    (type) => !other.types.has(type) && !(type === 'integer' && other.types.has('number')),
  )
  const isAny = other.isOpen || other.values.size === 0
  return [...types, ...(isAny ? [] : [...field.values].filter((value) => !other.values.has(value)))]
}
