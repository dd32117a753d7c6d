/** The fields of a JSON Schema by path, so that schemas of different makers can be compared. */
import type { JsonSchema } from '../../server/api/openapi/components.ts'

export interface Field {
  isRequired: boolean
  /** JSON types. Empty if any value is allowed. */
  types: Set<string>
  /** Fixed values. */
  values: Set<string>
  /** Whether other texts than the fixed values are allowed. */
  isOpen: boolean
  /** Bounds such as `maxLength`, with their values. */
  limits: Set<string>
  /** Whether an object may have keys that the schema does not name. */
  takesOtherKeys: boolean
}

/**
 * Paths such as `plugins[]<web>.max_results`, which is the key `max_results` of those items of `plugins` that have the
 * `id` `web`. Parents come before their parts.
 */
export type Fields = Map<string, Field>

/** The keys by which unions of objects tell their branches apart. */
const TAGS = ['type', 'id']

const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern']

export function fieldsOf(root: JsonSchema): Fields {
  const fields: Fields = new Map()
  visit(root, '', true)
  return fields

  function visit(schema: JsonSchema, path: string, isRequired: boolean): void {
    const branches = branchesOf(schema)
    const field = fieldAt(path, isRequired)
    for (const branch of branches) addTo(field, branch)
    const objects = branches.filter(({ properties }) => properties !== undefined)
    for (const { items } of branches) if (items !== undefined) visit(items as JsonSchema, `${path}[]`, true)
    for (const object of objects) visitKeys(object, path, objects.length > 1)
  }

  function visitKeys({ properties = {}, required = [] }: JsonSchema, path: string, isBranch: boolean): void {
    const tag = isBranch ? TAGS.find((key) => valuesOf(properties[key]).length > 0) : undefined
    const tags = tag === undefined ? [] : valuesOf(properties[tag])
    const places = tags.length === 0 ? [path] : tags.map((value) => `${path}<${value}>`)
    for (const [key, part] of Object.entries(properties)) {
      for (const place of key === tag ? [path] : places) {
        visit(part as JsonSchema, place === '' ? key : `${place}.${key}`, required.includes(key))
      }
    }
  }

  function fieldAt(path: string, isRequired: boolean): Field {
    const empty = { types: new Set<string>(), values: new Set<string>(), limits: new Set<string>() }
    const field = fields.get(path) ?? { ...empty, isRequired, isOpen: false, takesOtherKeys: false }
    fields.set(path, field)
    field.isRequired &&= isRequired
    return field
  }

  function valuesOf(schema: unknown): string[] {
    return branchesOf((schema ?? {}) as JsonSchema).flatMap(fixedValues)
  }

  /** The schema or, of a union, those of all its branches. */
  function branchesOf(schema: JsonSchema): JsonSchema[] {
    const { $ref, anyOf, oneOf = anyOf } = schema
    if ($ref !== undefined) return branchesOf(resolve($ref))
    return oneOf === undefined ? [schema] : (oneOf as JsonSchema[]).flatMap(branchesOf)
  }

  function resolve(reference: string): JsonSchema {
    const keys = reference.split('/').slice(1)
    return keys.reduce<Record<string, unknown>>((part, key) => part[key] as Record<string, unknown>, root)
  }
}

function addTo(field: Field, schema: JsonSchema): void {
  const values = fixedValues(schema)
  const types = schema.type === undefined ? values.map(() => 'string') : [schema.type].flat()
  for (const type of types) field.types.add(type)
  for (const value of values) field.values.add(value)
  field.isOpen ||= types.includes('string') && values.length === 0
  field.takesOtherKeys ||= types.includes('object') && (schema.additionalProperties ?? false) !== false
  for (const key of LIMITS) if (isLimit(schema[key])) field.limits.add(`${key} ${schema[key]}`)
}

function fixedValues({ const: constant, enum: values = [] }: JsonSchema): string[] {
  return [...(constant === undefined ? [] : [constant]), ...values].filter((value) => typeof value === 'string')
}

/** Zod gives every integer the bounds of numbers that JavaScript represents exactly. */
function isLimit(value: unknown): boolean {
  return value !== undefined && Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER
}
