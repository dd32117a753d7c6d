import { z } from 'zod'

/**
 * Where a value is in a record: a column or key (`model`), a key inside it (`usage.input`), a JSON pointer for keys that
 * have dots (`/usage/input.tokens`, RFC 6901), or an attribute of an object or an OTLP list (`attributes[gen_ai.system]`).
 */
const Path = z.string().min(1)

/** A path, or the first of several that has a value. */
const Paths = z.union([Path, z.array(Path).min(1)])
export type Paths = z.infer<typeof Paths>

/** The same for counts; a path that begins with `+` is added: `["input", "+cache.read"]`. */
export const CountPaths = Paths.refine((paths) => [paths].flat().some((path) => !path.startsWith('+')), {
  error: 'needs a path without a + at its beginning',
})

/** Units of Unix time, and calendar dates in UTC. */
const TimeUnit = z.enum(['s', 'ms', 'us', 'ns', 'day'])
export type TimeUnit = z.infer<typeof TimeUnit>

/** ISO 8601, in the source's zone if it has no offset. With a `unit`: Unix time or a calendar date. */
const Time = z.union([Paths, z.strictObject({ path: Paths, unit: TimeUnit })])
export type Time = z.infer<typeof Time>

/** What a value must be. Texts are compared without regard to case. A missing value equals nothing. */
export type Test = { equal: string | boolean } | { in: string[] } | { present: boolean } | { not: Test }
const Test: z.ZodType<Test> = z.lazy(() =>
  z.union([
    z.strictObject({ equal: z.union([z.string(), z.boolean()]) }),
    z.strictObject({ in: z.array(z.string()).min(1) }),
    z.strictObject({ present: z.boolean() }),
    z.strictObject({ not: Test }),
  ]),
)

/** Tests by path: all must hold, and of a list of tests one. Other records are excluded as `left_out` and counted. */
export const Where = z.record(Path, z.union([Test, z.array(Test).min(1)]))
export type Where = z.infer<typeof Where>

/** Kinds of tokens that products report beside input and output. */
const INPUT_PARTS = ['cache_read', 'cache_write', 'input_audio'] as const
const OUTPUT_PARTS = ['reasoning', 'output_audio'] as const
const Parts = z.partialRecord(z.enum([...INPUT_PARTS, ...OUTPUT_PARTS]), CountPaths)
type Parts = z.infer<typeof Parts>

export function inputParts(parts: Parts): Paths[] {
  return INPUT_PARTS.flatMap((part) => (parts[part] === undefined ? [] : [parts[part]]))
}

export function outputParts(parts: Parts): Paths[] {
  return OUTPUT_PARTS.flatMap((part) => (parts[part] === undefined ? [] : [parts[part]]))
}

/**
 * The counts of a record. `inside` are parts that a count includes, `outside` parts that are added to it. `total` is the
 * product's own sum, which the counts are compared with. `compare` names the counts that include the inside parts, if
 * they are not the published ones.
 */
const Counts = z.strictObject({
  input: CountPaths,
  output: CountPaths,
  inside: Parts.default({}),
  outside: Parts.default({}),
  total: CountPaths.optional(),
  compare: z.strictObject({ input: CountPaths, output: CountPaths }).optional(),
})
export type Counts = z.infer<typeof Counts>

/** Token accounting that needs code: see `rules.ts`. */
export const RuleName = z.enum(['helicone_outside', 'langfuse_total', 'portkey_total'])
export type RuleName = z.infer<typeof RuleName>

/** An id of several texts. Without one of `of` a record has no id. */
const JoinedId = z.strictObject({ of: z.array(Path).min(1), with: z.array(Path).default([]) })

/** How the records of a product are read: one file for each schema in this folder. */
export const Mapping = z.strictObject({
  product: z.string().min(1),
  /** What a record is. */
  records: z.string().min(1),
  /** Where this is known from, and when it was read. */
  knowledge: z.array(z.strictObject({ source: z.string().min(1), read: z.iso.date() })).min(1),
  /** Raise this when the schema reads a record differently: its files are then read again. A test enforces it. */
  reading: z.int().min(1),
  timestamp: Time,
  /** With `variant`: its value as a suffix of the slug. */
  model_permaslug: z.union([Paths, z.strictObject({ path: Paths, variant: Path })]),
  tokens: z.union([Counts, z.strictObject({ rule: RuleName })]),
  request_id: z.union([Paths, JoinedId]).optional(),
  visibility: Paths.optional(),
  api_key_hash: Paths.optional(),
  cost_usd: Paths.optional(),
  /** With `above_zero`: true where an amount is positive. */
  is_byok: z.union([Paths, z.strictObject({ above_zero: Path })]).optional(),
  /** When the record was last written. Of duplicates the latest is kept (DESIGN.md §6.7). */
  updated_at: Paths.optional(),
  where: Where.default({}),
  /** Columns that a file must have besides those of timestamp, model, and input and output tokens. */
  required: z.array(z.string()).default([]),
  /** Columns of the product that are not read. */
  unread: z.array(z.string()).default([]),
  /** Set if timestamps are never relative, so `base_time` is not allowed. */
  absolute_time: z.literal(true).optional(),
})
export type Mapping = z.infer<typeof Mapping>
