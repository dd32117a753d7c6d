import { z } from 'zod'
import { nearest } from '../../../pipeline/contract/nearest.ts'
import { TOP_MODELS } from '../../../pipeline/contract/ranking.ts'
import type { Selection } from '../../published/selected-answers.ts'
import { FIELDS, type Field } from '../../published/selection.ts'
import { queryParameter, quoted, repeatableParameter } from '../../schemas/combinators.ts'
import { DEFAULT_LIMIT, limitParameter, MOST_ENTRIES, OffsetParameter } from '../../schemas/pagination.ts'

const TopParameter = z
  .string()
  .refine((text) => /^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= TOP_MODELS, {
    error: ({ input }) => `must be an integer from 1 to ${TOP_MODELS}, not ${quoted(String(input))}`,
    abort: true,
  })
  .transform(Number)
  .pipe(z.int().min(1).max(TOP_MODELS))

const FieldsParameter = z
  .string()
  .transform((text, { addIssue }) => {
    const names = text.split(',')
    const fault = faultOf(names)
    if (fault === undefined) return names as Field[]
    addIssue(fault)
    return z.NEVER
  })
  .pipe(z.array(z.enum(FIELDS)).min(1))

function faultOf(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => !(FIELDS as readonly string[]).includes(name))
  if (unknown !== undefined) {
    const meant = nearest(unknown, FIELDS)
    const help = meant === undefined ? `it takes ${FIELDS.join(', ')}` : `did you mean ${meant}?`
    return `has no column ${quoted(unknown)}: ${help}`
  }
  const double = names.find((name, index) => names.indexOf(name) < index)
  return double === undefined ? undefined : `must name ${double} once`
}

/** The parameters that select rows and columns, in the order in which they apply (docs/api.md). */
export const SELECTION_PARAMETERS = {
  top: queryParameter(TopParameter).meta({
    description:
      'How many models a date or period names. The others join `other`; `rank` and `share` stay those of the whole table.',
  }),
  model: repeatableParameter().meta({
    description:
      'Only the rows of this model; `other` is the row `other`. Repeat it for several models. A date that does not name the model has no row, which is not zero.',
  }),
  author: repeatableParameter().meta({
    description:
      'Only the rows of the models of this author, as the `models.csv` of the release names it. Repeat it for several authors. With `model` too, the rows of either.',
  }),
  fields: queryParameter(FieldsParameter).meta({
    description:
      'The columns of the answer and their order, separated by commas. `rank` and `share` (6 decimals) are of the whole table; `rank` is null for `other`, `author` where it is unknown.',
    explode: false,
  }),
  limit: limitParameter({ maximum: MOST_ENTRIES }).meta({
    description: `How many rows to return at most: with \`offset\` alone ${DEFAULT_LIMIT}. Without both, all rows.`,
    examples: undefined,
  }),
  offset: OffsetParameter.meta({ description: 'How many rows to skip, after all else.', examples: undefined }),
}

const SELECTING = ['top', 'model', 'author', 'fields', 'limit', 'offset'] as const

type SelectionQuery = z.infer<z.ZodObject<typeof SELECTION_PARAMETERS>>

/** What a request selects of its window; undefined without these parameters. `path` is that of its URL. */
export function selectionOf(query: SelectionQuery, path: string): Selection | undefined {
  if (SELECTING.every((name) => query[name] === undefined)) return undefined
  const { top, model, author, fields, limit, offset, ...rest } = query
  const selects = { top, model, author, fields }
  const isPage = limit !== undefined || offset !== undefined
  const parameters = parametersOf({ ...rest, ...selects, fields: fields?.join(',') })
  if (!isPage) return { ...selects, name: parameters.join('&') }
  const page = { offset: offset ?? 0, limit: limit ?? DEFAULT_LIMIT }
  const textAt = (at: number) => [...parameters, `offset=${at}`, `limit=${page.limit}`].join('&')
  return { ...selects, page: { ...page, urlAt: (at) => `${path}?${textAt(at)}` }, name: textAt(page.offset) }
}

/** Of a parameter that repeats, one for each value. */
function parametersOf(query: Record<string, unknown>): string[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const values = value === undefined ? [] : [value].flat()
    return values.map((each) => `${name}=${encodeURIComponent(String(each).toWellFormed()).replaceAll('%2F', '/')}`)
  })
}
