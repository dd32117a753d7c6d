import { counted, formatInteger } from '../base/numbers.ts'
import type { ChangeRow, TableChanges } from '../contract/change-log.ts'
import { describeRestated, type Restated } from './restated.ts'

/** The name that `--accept` takes to publish final dates as a new version of Tokenboard reads them. */
export const NEW_READING = 'new_reading'

const DATES_SHOWN = 10

/** Lists what is final and has other rows because raw files are read differently now; undefined if accepted. */
export function refuseNewReading(
  { dates, periods }: Restated,
  { daily }: TableChanges,
  accepted: readonly string[],
): string | undefined {
  if (dates.length + periods.length === 0 || accepted.includes(NEW_READING)) return undefined
  const shown = dates
    .slice(0, DATES_SHOWN)
    .map((date) => `  ${date}: ${tokensOf(daily.filter((row) => row.date === date))}`)
  const more = dates.length > DATES_SHOWN ? [`  and ${counted(dates.length - DATES_SHOWN, 'more date')}`] : []
  const tables = periods.length === 0 ? [] : [`  ${describeRestated({ dates: [], periods })}`]
  const what = dates.length > 0 ? 'dates' : 'weeks or months'
  return (
    `this version of Tokenboard reads some sources differently, which changes final ${what}; nothing was published\n` +
    `${[...shown, ...more, ...tables].join('\n')}\nCHANGELOG.md says what is read differently. If the numbers are right, publish ` +
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
