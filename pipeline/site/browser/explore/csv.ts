import { CANONICAL_CSV_HEADER, canonicalCsvRow, csvField } from '../../../contract/canonical-csv.ts'
import type { Entry } from './entries.ts'
import { fraction } from './fraction.ts'
import type { View } from './view.ts'

const SHARE_DIGITS = 6

/** Days in tokens equal the published CSV byte for byte. Weeks and months add a count of days, shares the tokens. */
export function toCsv(entries: readonly Entry[], { by, show }: Pick<View, 'by' | 'show'>): string {
  if (by === 'day' && show === 'tokens') return CANONICAL_CSV_HEADER + entries.map(publishedLine).join('')
  const names = [
    by === 'day' ? 'date' : by === 'week' ? 'week_start' : 'month',
    'model_permaslug',
    'total_tokens',
    ...(show === 'share' ? ['share'] : []),
    ...(by === 'day' ? [] : ['days', 'days_of_period']),
  ]
  const lines = entries.map(({ period, model_permaslug, tokens, total }) => [
    period.name,
    csvField(model_permaslug),
    tokens,
    ...(show === 'share' ? [fraction(tokens, total, SHARE_DIGITS)] : []),
    ...(by === 'day' ? [] : [period.days, period.length]),
  ])
  return [names, ...lines].map((fields) => `${fields.join(',')}\n`).join('')
}

function publishedLine({ period, model_permaslug, tokens }: Entry): string {
  return canonicalCsvRow({ date: period.name, model_permaslug, total_tokens: String(tokens) })
}
