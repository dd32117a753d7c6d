import { CANONICAL_CSV_HEADER, canonicalCsvRow, csvField } from '../../../contract/canonical-csv.ts'
import type { Entry } from './entries.ts'
import { fraction } from './fraction.ts'
import type { View } from './view.ts'

const SHARE_DIGITS = 6

/**
 * The entries as CSV. Days in tokens have the form of the published CSV to the byte. Weeks and months also say of how
 * many of their days they are the sum, and shares stand beside the tokens that they are made of.
 */
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
