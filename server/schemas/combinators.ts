import { z } from 'zod'
import { phrase } from '../../pipeline/contract/issues.ts'
import { invalidRequest, type RequestIssue } from '../base/errors.ts'

/** How many issues of a body a response lists. Validation of a list stops after them. */
export const MAX_ISSUES = 20

/** Throws a 400 unless `value` fits. Does not return zod's copy, which drops `__proto__` and reorders keys. */
export function requireValid<S extends z.ZodType>(schema: S, value: unknown): asserts value is z.output<S> {
  const parsed = schema.safeParse(value, { error: phrase })
  if (!parsed.success) throw invalidRequest(describeIssues(parsed.error.issues))
}

function describeIssues(issues: z.core.$ZodIssue[]): RequestIssue[] {
  const faults = issues.flatMap((issue) => faultsOf(issue)).map(toRequestIssue)
  const more = faults.length - MAX_ISSUES
  if (more <= 0) return faults
  return [...faults.slice(0, MAX_ISSUES), { path: '', message: `and at least ${more} more` }]
}

/** An issue with the union branches that `tagged` added, outermost first. */
export interface Branched {
  branches?: string[]
}

interface Fault {
  path: PropertyKey[]
  branches: string[]
  message: string
}

function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const inner = issue.code === 'invalid_union' ? meantBranch(issue) : undefined
  const here = { path: issue.path, branches: (issue as Branched).branches ?? [] }
  if (inner === undefined) return [{ ...here, message: issue.message }]
  return inner.flatMap(faultsOf).map(({ path, branches, message }) => ({
    path: [...here.path, ...path],
    branches: [...here.branches, ...branches],
    message,
  }))
}

/** Such as `messages[3].content[0].tool_use_id is required (tool_result)`. */
function toRequestIssue({ path, branches, message }: Fault): RequestIssue {
  if (path.length === 0) return { path: '', message: `the body ${message}` }
  return {
    path: path
      .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
      .join('')
      .replace(/^\./, ''),
    message: branches.length === 0 ? message : `${message} (${branches.join(' > ')})`,
  }
}

/** The issues of the branch that was meant: the last one that fits by type and, if it has one, by tag. */
function meantBranch({ errors }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  const fitting = errors.filter(([first]) => first !== undefined && !isOfOtherType(first))
  return fitting.findLast(([first]) => first !== undefined && !hasUnknownTag(first)) ?? fitting.at(-1)
}

function isOfOtherType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
}

function hasUnknownTag(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_union' && issue.discriminator !== undefined && issue.path.length === 1
}

/* Additions to zod: lists that stop early, unions that name the failed branch, lengths in characters. */

/** `z.array` that stops after `MAX_ISSUES` issues, so a bad body costs no more when it is large, and does not copy. */
export function list<T extends z.ZodType>(element: T): z.ZodArray<T> {
  return new BoundedArray({ type: 'array', element }) as z.ZodArray<T>
}

const BoundedArray = z.core.$constructor<z.ZodArray>('BoundedArray', (inst, def) => {
  z.ZodArray.init(inst, def)
  inst._zod.parse = (payload, ctx) => {
    const values: unknown = payload.value
    if (!Array.isArray(values)) {
      // `continue: false` keeps zod from checking a string's length against the list's bounds.
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

/** `z.discriminatedUnion` that adds the option's tag to each issue's `branches`. */
export function tagged<Tag extends string, const Options extends TaggedOptions>(
  tag: Tag,
  options: Options,
): z.ZodDiscriminatedUnion<Options, Tag> {
  const union: unknown = new TaggedUnion({ type: 'union', discriminator: tag, options: [...options] as z.ZodType[] })
  return union as z.ZodDiscriminatedUnion<Options, Tag>
}

/** An open object whose `type` has one value. */
export function typed<const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.looseObject({ type: z.literal(type), ...shape })
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

/** The tag of the option that `value` chose, even if the option allows it to be missing. */
function branchOf({ options, discriminator }: z.core.$ZodDiscriminatedUnionDef, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const tag = (value as Record<string, unknown>)[discriminator]
  const chosen = options.map((option) => tagsOf(option, discriminator)).find((tags) => tags.has(tag))
  return [...(chosen ?? [])].filter((name) => typeof name === 'string').find((name) => name === (tag ?? name))
}

function noteBranch(issue: z.core.$ZodRawIssue, branch: string): void {
  const { branches = [] }: Branched = issue as object
  Object.assign(issue, { branches: [branch, ...branches] } satisfies Branched)
}

/** The values of `tag` that choose `schema` in a tagged union; with `undefined` if the tag is optional. */
export function tagsOf(schema: z.core.$ZodType, tag: string): ReadonlySet<unknown> {
  return schema._zod.propValues?.[tag] ?? new Set()
}

/** An open object with any other `type` than those of the union `known`, which the service may have added since. */
export function ofOtherType(known: z.core.$ZodType) {
  const types = tagsOf(known, 'type')
  return z.looseObject({
    type: z
      .string()
      .refine((type) => !types.has(type), { abort: true })
      .meta({ not: { enum: [...types].filter((type) => type !== undefined) } }),
  })
}

function synchronous<T extends object>(result: T | Promise<T>): T {
  if (result instanceof Promise) throw new z.core.$ZodAsyncError()
  return result
}

/** A string of at most `limit` characters (Unicode code points, as in JSON Schema's `maxLength`): 256 emoji are 256. */
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

export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** An optional query parameter that may appear once: of two values nobody knows which is meant. */
export function queryParameter<T extends z.ZodType<unknown, string>>(schema: T) {
  return requiredParameter(schema).optional()
}

/** A query parameter that must be there, once. */
export function requiredParameter<T extends z.ZodType<unknown, string>>(schema: T) {
  return z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must appear once') }).pipe(schema)
}

/** An optional query parameter that may repeat. Gives its values in one order, without doubles. */
export function repeatableParameter() {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [...new Set([given].flat())].sort())
    .refine((values) => !values.includes(''), { error: 'must not be empty' })
    .pipe(z.array(z.string().min(1)))
    .optional()
}

const LONGEST_QUOTED = 40

/** A value of a request in a message. */
export function quoted(value: string): string {
  return JSON.stringify(value.slice(0, LONGEST_QUOTED))
}

/** ISO 8601 in UTC with milliseconds. */
export function instantSuchAs(example: string) {
  return z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ format: 'date-time', examples: [example] })
}
