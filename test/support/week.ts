/** A dataset whose last week has a clear ranking: for code that finds it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { REPOSITORY } from './pipeline.ts'
import type { FileRecord } from './records.ts'

const LAST = '2025-03-09'

/** Twelve models on twelve days; the older days would turn the order round, and every sum is beyond 2^53. */
export function weekRecords(): FileRecord[] {
  return Array.from({ length: 12 }, (_, day) => day).flatMap((day) =>
    Array.from({ length: 12 }, (_, model) => ({
      timestamp: `${addDays(LAST, -day)}T12:00:00Z`,
      model_permaslug: `acme/model-${model}`,
      prompt_tokens: String(9_007_199_254_740_991n - tokensOff(day, model)),
    })),
  )
}

function tokensOff(day: number, model: number): bigint {
  return BigInt(day < 7 ? model * 1_000_003 : (11 - model) * 900_000_000_007)
}

/** The ten models with the most tokens in the last seven days, a whole week, as the snippets print them. */
export function weekTop(): string {
  const sums = Array.from({ length: 10 }, (_, model) => 7n * (9_007_199_254_740_991n - tokensOff(0, model)))
  return sums.map((sum, model) => `acme/model-${model},${sum}\n`).join('')
}

/** The code of docs/researchers.md that reads weeks, for files at `base`, a URL or a folder. */
export function weeksExample(language: 'python' | 'sql', base: string): string {
  const page = readFileSync(join(REPOSITORY, 'docs/researchers.md'), 'utf8')
  const [, section = ''] = page.split('\n## Weeks and months\n')
  const [, code = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(section) ?? []
  return code.replace('http://127.0.0.1:8080/', () => (base.endsWith('/') ? base : `${base}/`))
}
