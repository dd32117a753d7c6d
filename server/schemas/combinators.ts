import { z } from 'zod'
import { type Branched, MAX_ISSUES } from './issues.ts'

/*
 * What the schemas of requests need beyond zod: lists that give up early, unions that say which branch failed, and
 * lengths in characters. They validate and change nothing, so the parsed value is not the point: see `requireValid`.
 */

/**
 * `z.array` that stops once it has found more than `MAX_ISSUES` faults, so that the cost of a bad body does not grow
 * with its size, and that neither copies nor changes its elements.
 */
export function list<T extends z.ZodType>(element: T): z.ZodArray<T> {
  return new BoundedArray({ type: 'array', element }) as z.ZodArray<T>
}

const BoundedArray = z.core.$constructor<z.ZodArray>('BoundedArray', (inst, def) => {
  z.ZodArray.init(inst, def)
  inst._zod.parse = (payload, ctx) => {
    const values: unknown = payload.value
    if (!Array.isArray(values)) {
      // `continue: false` keeps zod from checking the length of a string against the bounds of the list.
      payload.issues.push({ code: 'invalid_type', expected: 'array', input: values, inst, continue: false })
      return payload
    }
    for (let index = 0; index < values.length && payload.issues.length <= MAX_ISSUES; index++) {
      const { issues } = synchronous(def.element._zod.run({ value: values[index], issues: [] }, ctx))
      if (issues.length > 0) payload.issues.push(...z.core.util.prefixIssues(index, issues))
    }
    return payload
  }
})

/** `z.discriminatedUnion` that notes on each issue, as `branches`, the tag of the option in which it arose. */
export function tagged<Tag extends string, const Options extends TaggedOptions>(
  tag: Tag,
  options: Options,
): z.ZodDiscriminatedUnion<Options, Tag> {
  const union: unknown = new TaggedUnion({ type: 'union', discriminator: tag, options: [...options] as z.ZodType[] })
  return union as z.ZodDiscriminatedUnion<Options, Tag>
}

type TaggedOptions = readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]

const TaggedUnion = z.core.$constructor<z.ZodDiscriminatedUnion>('TaggedUnion', (inst, def) => {
  z.ZodDiscriminatedUnion.init(inst, def)
  const parse = inst._zod.parse
  inst._zod.parse = (payload, ctx) => {
    const { value } = payload
    const result = synchronous(parse(payload, ctx))
    const branch = result.issues.length > 0 ? branchOf(def, value) : undefined
    if (branch !== undefined) for (const issue of result.issues) noteBranch(issue, branch)
    return result
  }
})

/** The tag of the option that `value` chose. Where an option may lack its tag, that is the tag it need not have. */
function branchOf({ options, discriminator }: z.core.$ZodDiscriminatedUnionDef, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const tag = (value as Record<string, unknown>)[discriminator]
  const chosen = options.map((option) => tagsOf(option, discriminator)).find((tags) => tags.has(tag))
  return [...(chosen ?? [])].filter((name) => typeof name === 'string').find((name) => name === (tag ?? name))
}

/** `Branched` is what issues.ts reads it back as. */
function noteBranch(issue: z.core.$ZodRawIssue, branch: string): void {
  const { branches = [] }: Branched = issue as object
  Object.assign(issue, { branches: [branch, ...branches] } satisfies Branched)
}

/** The values of `tag` that choose `schema` in a tagged union; `undefined` is among them when it may be absent. */
export function tagsOf(schema: z.core.$ZodType, tag: string): ReadonlySet<unknown> {
  return schema._zod.propValues?.[tag] ?? new Set()
}

function synchronous<T extends object>(result: T | Promise<T>): T {
  if (result instanceof Promise) throw new z.core.$ZodAsyncError()
  return result
}

/**
 * A string of at most `limit` characters. Characters are Unicode code points, as JSON Schema's `maxLength` counts them
 * and as a person would sooner than UTF-16 units: 256 emoji are 256 characters.
 */
export function stringOfAtMost(limit: number) {
  return z
    .string()
    .refine((text) => hasAtMost(text, limit), {
      error: `must have at most ${limit} characters`,
      abort: true,
    })
    .meta({ maxLength: limit })
}

function hasAtMost(text: string, limit: number): boolean {
  return text.length <= limit || (text.length <= 2 * limit && countCharacters(text) <= limit)
}

/** The number of code points of `text`. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** A query parameter that is absent, or there once with a value that fits `schema` (API.md § Order of checks). */
export function queryParameter<T extends z.ZodType<unknown, string>>(schema: T) {
  return z.string({ error: 'must appear once' }).pipe(schema).optional()
}
