import { DATASET_START, type UtcDate } from './contract/utc-date.ts'
import type { Database, SqlParameters } from './database.ts'
import { BuildError } from './errors.ts'
import { RANK_PARAMETERS } from './rank.ts'

/**
 * The rules that the ranked rows have to fulfil. Each is a statement of `sql/checks` that returns what breaks it, and
 * says in its first line what it demands.
 */
const CHECKS: readonly { name: string; sentence: string; needs: readonly string[] }[] = [
  {
    name: 'too_many_rows',
    sentence: 'a date has at most 50 models and one row of the rest',
    needs: ['top_models', 'other'],
  },
  { name: 'doubled_model', sentence: 'a model has one row a date', needs: [] },
  {
    name: 'other_without_cause',
    sentence: 'there is a row of the rest only behind 50 models',
    needs: ['top_models', 'other'],
  },
  {
    name: 'lost_tokens',
    sentence: 'the rows of a date add up to the tokens of its public models',
    needs: ['first_date', 'last_date'],
  },
  { name: 'not_an_integer_of_64_bits', sentence: 'a number is positive and fits 64 bits', needs: [] },
  { name: 'out_of_order', sentence: 'rows stand in the published order', needs: ['other'] },
]

const FINDINGS_SHOWN = 5

/** Runs every check on `out_rankings_daily`. Throws `BuildError` that names each broken rule and what breaks it. */
export async function checkRanking(database: Database, lastDate: UtcDate): Promise<void> {
  const all: SqlParameters = { ...RANK_PARAMETERS, first_date: DATASET_START, last_date: lastDate }
  const broken: string[] = []
  for (const { name, sentence, needs } of CHECKS) {
    const parameters = Object.fromEntries(Object.entries(all).filter(([parameter]) => needs.includes(parameter)))
    const findings = await database.rows<{ date: string; finding: string }>(`checks/${name}`, parameters)
    if (findings.length === 0) continue
    const shown = findings.slice(0, FINDINGS_SHOWN).map(({ date, finding }) => `${date}: ${finding}`)
    const more = findings.length > FINDINGS_SHOWN ? ` and ${findings.length - FINDINGS_SHOWN} more` : ''
    broken.push(`${name} (${sentence}): ${shown.join('; ')}${more}`)
  }
  if (broken.length > 0)
    throw new BuildError(`the ranking breaks its own rules, nothing was published\n${broken.join('\n')}`)
}
