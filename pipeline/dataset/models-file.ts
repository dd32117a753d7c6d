import { z } from 'zod'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { jsonIfAny, parse } from '../base/json.ts'
import { csvField } from '../contract/canonical-csv.ts'
import { ModelFacts } from '../contract/model-facts.ts'
import { modelFacts } from './model-facts.ts'

export const COLUMNS = [
  'model_permaslug',
  'name',
  'author',
  'aliases',
  'first_date',
  'last_date',
  'days',
  'best_rank',
  'best_rank_date',
  'total_tokens',
] as const satisfies readonly (keyof ModelFacts)[]

/** Writes `models.csv`: RFC 4180, quoted only where needed, LF. Aliases are a JSON array. */
export function writeModels(models: readonly ModelFacts[]): Buffer {
  const lines = models.map((model) => COLUMNS.map((column) => csvField(fieldOf(model[column]))).join(','))
  return Buffer.from([COLUMNS.join(','), ...lines, ''].join('\n'))
}

function fieldOf(value: ModelFacts[keyof ModelFacts]): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const Count = z
  .string()
  .regex(/^(0|[1-9]\d*)$/, { error: 'must be a whole number' })
  .transform(Number)

const Aliases = z.string().transform((text, context): string[] => {
  const parsed = z.array(z.string()).safeParse(jsonIfAny(text))
  if (parsed.success) return parsed.data
  context.addIssue({ code: 'custom', message: 'must be an array of texts in JSON' })
  return z.NEVER
})

const Line = z.object({ ...ModelFacts.shape, aliases: Aliases, days: Count, best_rank: z.literal('').or(Count) })

/** Reads a published `models.csv`. Throws `BuildError` if it does not have the published format. */
export async function readModels(database: Database, path: string): Promise<ModelFacts[]> {
  const lines = await database.rows<Record<string, string>>('derived-files/read_models', { path })
  return parse(z.array(Line), lines, path, BuildError)
}

/** Verifies what follows from the rows; names do not. Throws `BuildError` that names the first wrong model. */
export async function verifyModels(
  database: Database,
  path: string,
  tables: Parameters<typeof modelFacts>[0],
): Promise<void> {
  const found = (await readModels(database, path)).map(factsOfRows)
  const expected = modelFacts(tables).map(factsOfRows)
  const lines = Math.max(found.length, expected.length)
  const wrong = Array.from({ length: lines }, (_, line) => line).find((line) => found[line] !== expected[line])
  if (wrong === undefined) return
  throw new BuildError(
    `${path} does not follow from the rows: it says ${found[wrong] ?? 'nothing'}, they say ${expected[wrong] ?? 'nothing'}`,
  )
}

function factsOfRows({ name: _name, author: _author, aliases: _aliases, ...facts }: ModelFacts): string {
  return JSON.stringify(facts)
}
