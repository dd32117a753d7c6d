import { z } from 'zod'

/**
 * Where a value is in a record: a column or key (`model`), a key inside it (`usage.input`), a JSON pointer for keys that
 * have dots (`/usage/input.tokens`, RFC 6901), or an attribute of an object or an OTLP list (`attributes[gen_ai.system]`).
 */
const Path = z.string().min(1)

const OneOrMore = z.union([Path, z.array(Path).min(1)])

/** A path, or the first of several that has a value. */
const Paths = OneOrMore.refine((paths) => ![paths].flat().some((path) => path.startsWith('+')), {
  error: 'cannot be a sum',
})
export type Paths = z.infer<typeof Paths>

/** The same for counts; a path that begins with `+` is added: `["input", "+cache.read"]`. */
export const CountPaths = OneOrMore.refine((paths) => [paths].flat().some((path) => !path.startsWith('+')), {
  error: 'needs a path without a + at its beginning',
})

/** Units of Unix time, and calendar dates in UTC. */
const TimeUnit = z.enum(['s', 'ms', 'us', 'ns', 'day'])
export type TimeUnit = z.infer<typeof TimeUnit>

/** ISO 8601, in the source's zone if it has no offset. With a `unit`: Unix time or a calendar date. */
const InUnit = z.strictObject({ path: Paths, unit: TimeUnit })
/** One of these, or the first of several that has a value. */
const Time = z.union([Paths, InUnit, z.array(z.union([Path.regex(/^[^+]/), InUnit])).min(1)])
export type Time = z.infer<typeof Time>

/** Where the records are in a line of JSON: `data[]`, or lists in lists, `data[].results[]`. */
export const Unnest = z.string().regex(/^([^[\]]+\[\])(\.[^[\]]+\[\])*$/, {
  error: 'must be a path of lists, such as data[] or data[].results[]',
})

/** What a source may say of a column of its schema: its name in the files, paths, or with a unit for its timestamp. */
export const ColumnMapping = z.union([CountPaths, z.strictObject({ path: Paths, unit: TimeUnit })])
export type ColumnMapping = z.infer<typeof ColumnMapping>

/**
 * What a value must be. Texts are compared without regard to case. A missing value equals nothing. `since`: an instant
 * of this UTC date or later.
 */
export type Test =
  | { equal: string | boolean }
  | { in: string[] }
  | { begins: string }
  | { since: string }
  | { present: boolean }
  | { not: Test }
const Test: z.ZodType<Test> = z.lazy(() =>
  z.union([
    z.strictObject({ equal: z.union([z.string(), z.boolean()]) }),
    z.strictObject({ in: z.array(z.string()).min(1) }),
    z.strictObject({ begins: z.string().min(1) }),
    z.strictObject({ since: z.iso.date() }),
    z.strictObject({ present: z.boolean() }),
    z.strictObject({ not: Test }),
  ]),
)

/** Tests by path: all must hold, and of a list of tests one. Other records are excluded as `left_out` and counted. */
export const Where = z.record(Path, z.union([Test, z.array(Test).min(1)]))
export type Where = z.infer<typeof Where>

/** Of several such conditions one must hold. */
const Wheres = z.union([Where, z.array(Where).min(1)])
export type Wheres = z.infer<typeof Wheres>

/** Kinds of tokens that products report beside input and output. */
const INPUT_PARTS = ['cache_read', 'cache_write', 'input_audio'] as const
const OUTPUT_PARTS = ['reasoning', 'output_audio'] as const
const PART_NAMES = [...INPUT_PARTS, ...OUTPUT_PARTS]
const Inside = z.partialRecord(z.enum(PART_NAMES), CountPaths)
/** With `when`, the part is outside only of such records, and inside of all others. */
const Part = z.union([CountPaths, z.strictObject({ path: CountPaths, when: Wheres })])
export type Part = z.infer<typeof Part>
const Outside = z.partialRecord(z.enum(PART_NAMES), Part)

export function inputParts<Value>(parts: Partial<Record<string, Value>>): Value[] {
  return INPUT_PARTS.flatMap((part) => (parts[part] === undefined ? [] : [parts[part]]))
}

export function outputParts<Value>(parts: Partial<Record<string, Value>>): Value[] {
  return OUTPUT_PARTS.flatMap((part) => (parts[part] === undefined ? [] : [parts[part]]))
}

/** How the tokens of a record are counted. */
const Counts = z.strictObject({
  input: CountPaths,
  output: CountPaths,
  /** Parts that a count includes. */
  inside: Inside.default({}),
  /** Parts that are added to a count. */
  outside: Outside.default({}),
  /** The product's own sum, which the two counts are compared with. */
  total: CountPaths.optional(),
  /** The count that gets what the total has more than the two counts, of all records or `when` it is so. */
  rest_of_total: z.strictObject({ to: z.enum(['input', 'output']), when: Wheres.default({}) }).optional(),
  /** The counts that include the inside parts, if they are not the published ones. */
  compare: z.strictObject({ input: CountPaths, output: CountPaths }).optional(),
})
export type Counts = z.infer<typeof Counts>

/** Token accounting that needs code: see `rules.ts`. */
const Rule = z.discriminatedUnion('rule', [
  z.strictObject({ rule: z.literal('helicone_outside') }),
  /** With `is_needed`, a record without the column is rejected: it would count 0. */
  z.strictObject({ rule: z.literal('langfuse_total'), usage: Path, is_needed: z.literal(true).optional() }),
])
export type Rule = z.infer<typeof Rule>

/** An id of several texts. Without one of `of` a record has no id. */
const JoinedId = z.strictObject({ of: z.array(Paths).min(1), with: z.array(Paths).default([]) })

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
  tokens: z.union([Counts, Rule]),
  request_id: z.union([Paths, JoinedId]).optional(),
  visibility: Paths.optional(),
  api_key_hash: Paths.optional(),
  /** With a `factor`: USD per unit of the amount. */
  cost_usd: z.union([Paths, z.strictObject({ path: Paths, factor: z.number().positive() })]).optional(),
  /** With `above_zero`: true where an amount is positive. */
  is_byok: z.union([Paths, z.strictObject({ above_zero: Path })]).optional(),
  /** When the record was last written. Of duplicates the latest is kept (DESIGN.md §6.7). */
  updated_at: Paths.optional(),
  where: Wheres.default({}),
  /** With it a path such as `data[].start_time` leads to the element that a record is in, and `$.id` to the line. */
  unnest: Unnest.optional(),
  /** Set if a line without the list of `unnest` is a record itself. CSV and Parquet have such records too. */
  may_be_unwrapped: z.literal(true).optional(),
  /** Keys of lines that have other things than records. Such lines are skipped. */
  without_records: z.array(z.string()).optional(),
  /** Columns that a file must have besides those of timestamp, model, and input and output tokens. */
  required: z.array(z.string()).default([]),
  /** Columns of the product that are not read. */
  unread: z.array(z.string()).default([]),
  /** Set if timestamps are never relative, so `base_time` is not allowed. */
  absolute_time: z.literal(true).optional(),
})
export type Mapping = z.infer<typeof Mapping>
