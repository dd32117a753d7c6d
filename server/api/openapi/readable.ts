import type { JsonSchema } from './components.ts'

const PLACE = '#/components/schemas/'

/** Schemas that others refer to by name. */
type Components = Record<string, JsonSchema>

/**
 * Makes the schemas of zod readable for generators of clients. Each object that is a branch of a union becomes a component,
 * because they name classes by it and drop what they name twice: of `Plugin` the branch `web` is `PluginWeb`. Where they
 * expect one type, a union with null becomes a list of types.
 */
export function readable(components: Components): Components {
  const all = { ...components }
  for (const [name, schema] of Object.entries(components)) makeReadable(schema, name, all)
  return all
}

function makeReadable(schema: JsonSchema, name: string, all: Components): void {
  if (schema.type === 'array') schema.items ??= {}
  loosen(schema)
  for (const branch of branchesOf(schema)) loosen(branch)
  schema.anyOf &&= flat(schema.anyOf as JsonSchema[])
  for (const branch of branchesOf(schema)) branch.title = name + wordOf(branch)
  for (const [part, partName] of partsOf(schema, name)) makeReadable(part, partName, all)
  mergeNull(schema)
  for (const branch of branchesOf(schema)) if (branch.type === 'object') moveOut(branch, all)
  if (schema.oneOf !== undefined) discriminate(schema, all)
}

/** Branches of unions within a union, where their names would not tell them from other objects. */
function flat(branches: JsonSchema[]): JsonSchema[] {
  const hasObject = branches.some(({ type }) => type === 'object')
  return branches.flatMap(({ anyOf, oneOf, ...branch }) => {
    return (anyOf ?? (hasObject ? oneOf : undefined) ?? [{ ...branch, ...(oneOf && { oneOf }) }]) as JsonSchema[]
  })
}

/** Says which property tells the branches apart: some generators find the branch of a value by it alone. */
function discriminate(schema: JsonSchema, all: Components): void {
  const branches = (schema.oneOf as JsonSchema[]).map(
    ({ $ref = '' }) => [$ref, all[$ref.slice(PLACE.length)] ?? {}] as const,
  )
  const [, first] = branches[0] ?? []
  const propertyName = first?.required?.find((key) => branches.every(([, branch]) => tagsOf(branch, key).length > 0))
  if (propertyName === undefined) return
  const mapping = branches.flatMap(([$ref, branch]) => tagsOf(branch, propertyName).map((tag) => [tag, $ref]))
  Object.assign(schema, { discriminator: { propertyName, mapping: Object.fromEntries(mapping) } })
}

/** Leaves a reference in the place of a schema. */
function moveOut(schema: JsonSchema, all: Components): void {
  const { title = '' } = schema
  all[title] = { ...schema }
  for (const key of Object.keys(schema)) delete schema[key]
  schema.$ref = PLACE + title
}

/** The branches of a union that have no name. */
function branchesOf({ anyOf, oneOf = anyOf ?? [] }: JsonSchema): JsonSchema[] {
  return (oneOf as JsonSchema[]).filter(({ $ref, type }) => $ref === undefined && type !== 'null')
}

/** A value may fit two branches that no constant tells apart, which `oneOf` would refuse. */
function loosen(schema: JsonSchema): void {
  if (schema.oneOf === undefined || (schema.oneOf as JsonSchema[]).every(isTagged)) return
  schema.anyOf = schema.oneOf
  delete schema.oneOf
}

/** Schemas within a schema, with names. */
function partsOf(schema: JsonSchema, name: string): [part: JsonSchema, name: string][] {
  const { properties = {}, items, additionalProperties } = schema
  const parts: [unknown, string][] = [
    ...branchesOf(schema).map((branch): [unknown, string] => [branch, branch.title ?? name]),
    ...Object.entries(properties).map(([key, property]): [unknown, string] => [property, name + pascal(key)]),
    [items, `${name}Item`],
    [additionalProperties, `${name}Value`],
  ]
  return parts.filter((part): part is [JsonSchema, string] => typeof part[0] === 'object')
}

/** What tells a branch from the others: a constant, or else the first of its required values, or else its type. */
function wordOf(branch: JsonSchema): string {
  const { properties = {}, required = [], type, anyOf, oneOf = anyOf } = branch
  const constants = Object.values(properties as Record<string, JsonSchema>).map((property) => property.const)
  const tag = [...constants, ...required.flatMap((key) => tagsOf(branch, key))].find(
    (value) => typeof value === 'string',
  )
  return pascal(String(tag ?? (oneOf === undefined ? [type].flat()[0] : 'object')))
}

/** Whether a branch requires a constant, which no other branch has. */
function isTagged(branch: JsonSchema): boolean {
  const { $ref, required = [] } = branch
  return $ref !== undefined || required.some((key) => tagsOf(branch, key).length > 0)
}

/** The values that a property may have, if it has fixed ones. */
function tagsOf({ properties = {} }: JsonSchema, key: string): unknown[] {
  const { const: constant, enum: values = [] } = (properties[key] ?? {}) as JsonSchema
  return constant === undefined ? values : [constant]
}

/** `{anyOf: [{type: 'string'}, {type: 'null'}]}` -> `{type: ['string', 'null']}`. */
function mergeNull(schema: JsonSchema): void {
  const [first, last, ...more] = (schema.anyOf ?? []) as JsonSchema[]
  if (last?.type !== 'null' || more.length > 0 || typeof first?.type !== 'string' || first.type === 'object') return
  const { title, type, enum: values, ...rest } = first
  delete schema.anyOf
  Object.assign(schema, { type: [type, 'null'], ...(values && { enum: [...values, null] }), ...rest, ...schema })
}

/** `openrouter:web_search` -> `OpenrouterWebSearch`. */
function pascal(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}
