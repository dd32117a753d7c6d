import { csvField } from '../../../contract/canonical-csv.ts'
import type { Shown } from './frame.ts'

const SHARE_DIGITS = 6
const COLUMN = { model: 'model_permaslug', family: 'family', author: 'author' } as const

/** Tokens of models equal the lines of the published CSV of the table, byte for byte. Shares have a column more. */
export function toCsv({ entries, grain, view }: Pick<Shown, 'entries' | 'grain' | 'view'>): string {
  const [hasDays, hasShare] = [grain !== 'day', view.show === 'share']
  const names = ['date', COLUMN[view.of], 'total_tokens', ...(hasDays ? ['days'] : []), ...(hasShare ? ['share'] : [])]
  const lines = entries.map(({ period, name, tokens, total }) => [
    period.start,
    csvField(name),
    tokens,
    ...(hasDays ? [period.days] : []),
    ...(hasShare ? [fraction(tokens, total, SHARE_DIGITS)] : []),
  ])
  return [names, ...lines].map((fields) => `${fields.join(',')}\n`).join('')
}

/** `tokens / total` with `digits` decimals, rounded half up: `0.012346`. Zero if the total is zero. */
export function fraction(tokens: bigint, total: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits)
  const scaled = total === 0n ? 0n : (2n * tokens * scale + total) / (2n * total)
  const decimals = String(scaled % scale).padStart(digits, '0')
  return `${scaled / scale}.${decimals}`
}
