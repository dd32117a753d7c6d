import { z } from 'zod'

/**
 * Where a value is in a record: a column or key (`model`), a key inside it (`usage.input`), a JSON pointer for keys that
 * have dots (`/usage/input.tokens`, RFC 6901), or an attribute of an object or an OTLP list (`attributes[gen_ai.system]`).
 */
/** Line ends within the name of a column are read as line feeds. */
const Path = z
  .string()
  .min(1)
  .overwrite((path) => path.replaceAll(/\r\n?/g, '\n'))

const OneOrMore = z.union([Path, z.array(Path).min(1)], { error: 'must be a path or a list of paths' })

/** Whether a path is a name of a column, without keys inside of it. */
export function isName(path: string): boolean {
  return !/[.[/]/.test(path)
}

/** Whether a member of a mapping is only paths, without what else may be said of them. */
export function isPaths<Paths extends string | readonly unknown[]>(value: Paths | object): value is Paths {
  return typeof value === 'string' || Array.isArray(value)
}

const OWN = '\0'

/** Marks a path that a source wrote: it names columns as its files do, not as its schema does, and dots as they stand. */
export function ownPath(path: string): string {
  return path.startsWith('+') ? `+${OWN}${path.slice(1)}` : `${OWN}${path}`
}

/** The same for a path that cannot be part of a sum. */
export function ownField(path: string): string {
  return `${OWN}${path}`
}

/** What a source wrote, or undefined for a path of a schema. */
export function ownText(path: string): string | undefined {
  return path.startsWith(OWN) ? path.slice(OWN.length) : undefined
}

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
export const Unnest = z.string().regex(/^(?!\$\.)([^[\]]+\[\])(\.[^[\]]+\[\])*$/, {
  error: 'must be a path of lists, such as data[] or data[].results[]',
})

/** What a source may say of a column of its schema: its name in the files, paths, or with a unit for its timestamp. */
export const ColumnMapping = z.union([CountPaths, z.strictObject({ path: Paths, unit: TimeUnit })], {
  error:
    'must be a name, a path, a list of paths, or a time such as {"path": "sent_at", "unit": "ms"} with s, ms, us, ns or day',
})
export type ColumnMapping = z.infer<typeof ColumnMapping>

/**
 * What a value must be. Texts are compared without regard to case, a number as text. A missing value equals nothing.
 * `since`: an instant of this UTC date or later.
 */
export type Test =
  | { equal: string | number | boolean }
  | { in: (string | number)[] }
  | { begins: string }
  | { since: string }
  | { present: boolean }
  | { not: Test }
const FORMS =
  '{"equal": "ok"}, {"in": ["a", "b"]}, {"begins": "a"}, {"since": "2025-01-31"}, {"present": true} or {"not": {…}}'
const Test: z.ZodType<Test> = z.lazy(() =>
  z.union(
    [
      z.strictObject({ equal: z.union([z.string(), z.number(), z.boolean()]) }),
      z.strictObject({ in: z.array(z.union([z.string(), z.number()])).min(1) }),
      z.strictObject({ begins: z.string().min(1) }),
      z.strictObject({ since: z.iso.date() }),
      z.strictObject({ present: z.boolean() }),
      z.strictObject({ not: Test }),
    ],
    { error: `must be one condition: ${FORMS}` },
  ),
)

/**
 * Tests by path: all must hold, and of a list of tests one. In a schema `timestamp`, `model_permaslug` and `request_id` are
 * what the record has there, whichever of the paths of the field has it.
 */
const Tests = z.record(
  Path,
  z.union([Test, z.array(Test).min(1)], { error: `must be one condition or a list of them: ${FORMS}` }),
)
export type Tests = z.infer<typeof Tests>

/** Tests, or a list of which one must hold. Other records are excluded as `left_out` and counted. */
export const Where = z.union([Tests, z.array(Tests).min(1)])
export type Where = z.infer<typeof Where>

/** Kinds of tokens that products report beside input and output. */
const INPUT_PARTS = ['cache_read', 'cache_write', 'input_audio'] as const
const OUTPUT_PARTS = ['reasoning', 'output_audio'] as const
const PART_NAMES = [...INPUT_PARTS, ...OUTPUT_PARTS]
const Inside = z.partialRecord(z.enum(PART_NAMES), CountPaths)
/**
 * With `when`, the part is outside only of such records, and inside of all others. With `at_least`, the greater of two counts
 * is the part.
 */
const Part = z.union([
  CountPaths,
  z.strictObject({ path: CountPaths, at_least: CountPaths.optional(), when: Where.optional() }),
])
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
  rest_of_total: z.strictObject({ to: z.enum(['input', 'output']), when: Where.default({}) }).optional(),
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
  /** Where a record sums usage since its timestamp: when the next record begins. */
  bucket_end: Time.optional(),
  /** With `variant`: its value as a suffix of the slug. */
  model_permaslug: z.union([Paths, z.strictObject({ path: Paths, variant: Path })]),
  tokens: z.union([Counts, Rule]),
  request_id: z.union([Paths, JoinedId]).optional(),
  visibility: Paths.optional(),
  api_key_hash: Paths.optional(),
  /** Whose usage it is: a customer of the gateway, or what its callers send. `absent`: texts that stand for nobody. */
  contributor: z
    .union([
      Paths,
      z.strictObject({
        path: Paths,
        absent: z.array(z.string()).min(1).optional(),
        is: z.literal('end_user').optional(),
      }),
    ])
    .optional(),
  cost_usd: Paths.optional(),
  /** With `above_zero`: true where an amount is positive. */
  is_byok: z.union([Paths, z.strictObject({ above_zero: Path })]).optional(),
  /** When the record was last written. Of duplicates the latest is kept. */
  updated_at: Paths.optional(),
  where: Where.default({}),
  /**
   * In files of JSON. With it a path such as `data[].start_time` leads to the element that a record is in, and `$.id` to the
   * line. Rows of other files are records.
   */
  unnest: Unnest.optional(),
  /** Set if a line without the list of `unnest` is an element of the list inside of it, or a record itself. */
  may_be_unwrapped: z.literal(true).optional(),
  /** Keys of lines that have other things than records. Such lines are skipped. */
  without_records: z.array(z.string()).optional(),
  /** Settings of a source for other forms of the product's files. `inspect` tries them. */
  forms: z
    .array(z.strictObject({ unnest: Unnest.optional(), columns: z.record(z.string(), z.string()).optional() }))
    .default([]),
  /** Columns that a file must have besides those of timestamp, model, and input and output tokens. */
  required: z.array(z.string()).default([]),
  /** Where the needed columns have common names: columns of which `inspect` must find one to take a file for the product's. */
  told_by: z.array(z.string()).min(1).optional(),
  /** Columns of the product that are not read. */
  unread: z.array(z.string()).default([]),
  /** Set if timestamps are never relative, so `base_time` is not allowed. */
  absolute_time: z.literal(true).optional(),
  /** Set if the product may log a share of the requests without saying which: a source must then say that it has all. */
  may_be_sampled: z.literal(true).optional(),
})
export type Mapping = z.infer<typeof Mapping>
