import { csvField } from '../../../contract/canonical-csv.ts'
import type { Entry } from './entries.ts'
import { fraction } from './fraction.ts'
import type { View } from './view.ts'

const SHARE_DIGITS = 6

/** Tokens equal the lines of the published CSV of the table, byte for byte. Shares have a column more. */
export function toCsv(entries: readonly Entry[], { by, show }: Pick<View, 'by' | 'show'>): string {
  const names = [
    'date',
    'model_permaslug',
    'total_tokens',
    ...(by === 'day' ? [] : ['days']),
    ...(show === 'share' ? ['share'] : []),
  ]
  const lines = entries.map(({ period, model_permaslug, tokens, total }) => [
    period.start,
    csvField(model_permaslug),
    tokens,
    ...(by === 'day' ? [] : [period.days]),
    ...(show === 'share' ? [fraction(tokens, total, SHARE_DIGITS)] : []),
  ])
  return [names, ...lines].map((fields) => `${fields.join(',')}\n`).join('')
}
