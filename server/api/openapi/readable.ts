import type { JsonSchema } from './components.ts'

/** Named schemas, to which others refer as `#/components/schemas/<name>`. */
type Components = Record<string, JsonSchema>

const PLACE = '#/components/schemas/'

/**
 * Rewrites the schemas that zod makes for generators of clients, which make a class of each named schema.
 *
 * - An object that is a branch of a union becomes a component, and every branch has a title: the branch of `Plugin` whose
 *   `id` is `web` is `PluginWeb`.
 * - A union whose branches require different constants of one property is `oneOf` with a discriminator. Every other
 *   union is `anyOf`, because a value may fit several of its branches.
 * - A text, number, truth value or array that may be null has a list of types.
 * - An array says what its items are, even if they may be anything.
 */
export function readable(components: Components): Components {
  const branches: Components = {}
  const named = Object.entries(components).map(([name, schema]) => [name, { title: name, ...rewrite(schema, name) }])
  return { ...Object.fromEntries(named), ...branches }

  /** A schema as generators read it. `name` is what its branches are named after. */
  function rewrite(schema: JsonSchema, name: string): JsonSchema {
    const { anyOf, oneOf = anyOf, ...rest } = rewriteParts(schema, name)
    return oneOf === undefined ? rest : { ...union((oneOf as JsonSchema[]).flatMap(flattened), name), ...rest }
  }

  function rewriteParts(schema: JsonSchema, name: string): JsonSchema {
    const { type, properties, items = {}, additionalProperties } = schema
    const rewritten = { ...schema }
    if (properties !== undefined) {
      const parts = Object.entries(properties as Components)
      rewritten.properties = Object.fromEntries(parts.map(([key, part]) => [key, rewrite(part, name + pascal(key))]))
    }
    if (type === 'array') rewritten.items = rewrite(items as JsonSchema, `${name}Item`)
    if (typeof additionalProperties === 'object') {
      rewritten.additionalProperties = rewrite(additionalProperties, `${name}Value`)
    }
    return rewritten
  }

  function union(options: JsonSchema[], name: string): JsonSchema {
    const values = options.filter(({ type }) => type !== 'null')
    const isNullable = values.length < options.length
    const [first = {}, ...others] = values
    if (isNullable && others.length === 0 && isSimple(first)) return orNull(rewrite(first, name))
    const members = values.map((value) => member(value, others.length === 0 ? name : name + wordOf(value)))
    const discriminator = isNullable ? undefined : discriminatorOf(values, members)
    if (discriminator !== undefined) return { oneOf: members, discriminator }
    return { anyOf: isNullable ? [...members, { type: 'null', title: 'Null' }] : members }
  }

  /** A branch of a union, with a name. */
  function member(value: JsonSchema, name: string): JsonSchema {
    if (value.$ref !== undefined) return value
    const titled = { title: name, ...rewrite(value, name) }
    if (titled.type !== 'object') return titled
    if (name in components || name in branches) throw new Error(`two schemas have the name ${name}`)
    branches[name] = titled
    return { $ref: PLACE + name }
  }

  /** Which property tells the branches apart, and which constants of it each of them has. */
  function discriminatorOf(values: JsonSchema[], members: JsonSchema[]): object | undefined {
    const objects = values.map((value) => (value.$ref === undefined ? value : components[nameOf(value.$ref)]) ?? {})
    const propertyName = objects[0]?.required?.find((key) => objects.every((object) => tagsOf(object, key).length > 0))
    if (propertyName === undefined || objects.length === 1) return undefined
    const mapping = members.flatMap(({ $ref }, at) => tagsOf(objects[at] ?? {}, propertyName).map((tag) => [tag, $ref]))
    return { propertyName, mapping: Object.fromEntries(mapping) }
  }
}

/** The branches of a union within a union are branches of that one. */
function flattened(option: JsonSchema): JsonSchema[] {
  const { anyOf, oneOf = anyOf } = option
  return oneOf === undefined ? [option] : (oneOf as JsonSchema[]).flatMap(flattened)
}

function isSimple({ type }: JsonSchema): boolean {
  return type !== undefined && type !== 'object'
}

/** `{type: 'string', enum: ['fast']}` -> `{type: ['string', 'null'], enum: ['fast', null]}`. */
function orNull({ type, enum: values, ...rest }: JsonSchema): JsonSchema {
  return { type: [type, 'null'], ...(values === undefined ? {} : { enum: [...values, null] }), ...rest } as JsonSchema
}

/** What a branch is named by: a constant, else the first value of a property that it requires, else its type. */
function wordOf(branch: JsonSchema): string {
  const { properties = {}, required = [], type } = branch
  const constants = Object.values(properties as Components).map((property) => property.const)
  const word = [...constants, ...required.flatMap((key) => tagsOf(branch, key))].find((tag) => typeof tag === 'string')
  return pascal(String(word ?? type))
}

/** The values that a required property may have, if it has fixed ones. */
function tagsOf({ properties = {}, required = [] }: JsonSchema, key: string): unknown[] {
  const { const: constant, enum: values = [] } = (properties[key] ?? {}) as JsonSchema
  if (!required.includes(key)) return []
  return constant === undefined ? values : [constant]
}

function nameOf(reference: string): string {
  return reference.slice(PLACE.length)
}

/** `openrouter:web_search` -> `OpenrouterWebSearch`. */
function pascal(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}
