import type { z } from 'zod'
import { EmbeddingsModel } from './embeddings-model.ts'

/** What is wrong with a catalogue. `index` (from 0) and `id` name the entry, `path` the field. */
export interface CatalogueProblem {
  index?: number
  id?: string
  path: string
  message: string
}

const MOST_PROBLEMS_SHOWN = 50

/** Text that is not a catalogue. The message has a line per problem, for the first ones. */
export class CatalogueError extends Error {
  override name = 'CatalogueError'
  readonly problems: CatalogueProblem[]
  readonly problemCount: number

  constructor(problems: CatalogueProblem[]) {
    const shown = problems.slice(0, MOST_PROBLEMS_SHOWN)
    const more = problems.length - shown.length
    super([...shown.map(asLine), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'))
    this.problems = shown
    this.problemCount = problems.length
  }
}

/** Such as `[3] openai/text-embedding-3-small: pricing.prompt is missing`. */
function asLine({ index, id, path, message }: CatalogueProblem): string {
  const entry = [index === undefined ? '' : `[${index}]`, id ?? ''].filter((word) => word !== '').join(' ')
  const sentence = path === '' ? message : `${path} ${message}`
  return entry === '' ? sentence : `${entry}: ${sentence}`
}

/**
 * Parses a catalogue: a JSON array of entries, or an object with them as `data`, like the API's response. Returns the
 * entries as parsed, because zod changes the order of keys. Throws `CatalogueError` with every problem.
 */
export function parseCatalogue(text: string): EmbeddingsModel[] {
  const entries = entriesOf(parseJson(text))
  const problems = [...wrongFields(entries), ...duplicateIds(entries)].toSorted((a, b) => a.index - b.index)
  if (problems.length > 0) throw new CatalogueError(problems)
  return entries as EmbeddingsModel[]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CatalogueError([{ path: '', message: `not JSON: ${(error as SyntaxError).message}` }])
  }
}

function entriesOf(value: unknown): unknown[] {
  const entries = Array.isArray(value) ? value : fieldsOf(value).data
  if (Array.isArray(entries)) return entries
  throw new CatalogueError([{ path: '', message: 'neither an array of entries nor an object with such a "data"' }])
}

type ProblemOfEntry = CatalogueProblem & { index: number }

function wrongFields(entries: readonly unknown[]): ProblemOfEntry[] {
  return entries.flatMap((entry, index) => {
    const issues = EmbeddingsModel.safeParse(entry, { error: wording }).error?.issues ?? []
    const id = idOf(entry)
    return issues.map(({ path, message }) => ({
      index,
      ...(id === undefined ? {} : { id }),
      path: path.join('.'),
      message,
    }))
  })
}

function duplicateIds(entries: readonly unknown[]): ProblemOfEntry[] {
  const ids = entries.map(idOf)
  const firstIndexOf = new Map(ids.map((id, index) => [id, index] as const).toReversed())
  return ids.flatMap((id, index) => {
    const first = firstIndexOf.get(id)
    if (id === undefined || first === index) return []
    return [{ index, id, path: 'id', message: `is that of [${first}] too` }]
  })
}

function idOf(entry: unknown): string | undefined {
  const { id } = fieldsOf(entry)
  return typeof id === 'string' ? id : undefined
}

function fieldsOf(value: unknown): { id?: unknown; data?: unknown } {
  return typeof value === 'object' && value !== null ? value : {}
}

/** Wording that follows the field's name: `is missing`, `must be a string, not null`. */
function wording(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is missing'
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  if (issue.code !== 'invalid_type') return undefined
  return `must be ${TYPES[issue.expected] ?? issue.expected}, not ${nameOf(issue.input)}`
}

const TYPES: Record<string, string> = {
  array: 'an array',
  boolean: 'a boolean',
  int: 'an integer',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

function nameOf(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value)
  return TYPES[Array.isArray(value) ? 'array' : typeof value] ?? typeof value
}
