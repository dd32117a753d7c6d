import { counted, formatInteger } from '../base/numbers.ts'
import type { ChangeRow } from '../contract/change-log.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/** The name that `--accept` takes to publish final dates as a new version of Tokenboard reads them. */
export const NEW_READING = 'new_reading'

const DATES_SHOWN = 10

/** Lists final dates with other rows than before because raw files are read differently now; undefined if accepted. */
export function refuseNewReading(
  dates: readonly UtcDate[],
  rows: readonly ChangeRow[],
  accepted: readonly string[],
): string | undefined {
  if (dates.length === 0 || accepted.includes(NEW_READING)) return undefined
  const shown = dates
    .slice(0, DATES_SHOWN)
    .map((date) => `  ${date}: ${tokensOf(rows.filter((row) => row.date === date))}`)
  const more = dates.length > DATES_SHOWN ? [`  and ${counted(dates.length - DATES_SHOWN, 'more date')}`] : []
  return (
    'this version of Tokenboard reads some sources differently, which changes final dates; nothing was published\n' +
    `${[...shown, ...more].join('\n')}\ndocs/upgrading.md says what is read differently. If the numbers are right, publish ` +
    `them with: tokenboard build --accept ${NEW_READING}`
  )
}

function tokensOf(rows: readonly ChangeRow[]): string {
  const sum = (field: 'tokens_before' | 'tokens_after') =>
    rows.reduce((total, row) => total + BigInt(row[field] || 0), 0n)
  const [before, after] = [sum('tokens_before'), sum('tokens_after')]
  const rowCount = counted(rows.length, 'changed row')
  return `${rowCount}, ${formatInteger(before)} tokens before, ${formatInteger(after)} now`
}
