import type { UtcDate } from '../contract/utc-date.ts'
import { type Html, html } from './html.ts'

/** One line or area of a chart. A value is tokens; null where the date says nothing of it: a gap, not zero. */
export interface Series {
  name: string
  values: readonly (bigint | null)[]
  /** Whether it sums all that is not a series of its own: it is grey. */
  rest?: boolean
}

/** What a chart shows; a table beside it says the same in numbers. */
export interface Chart {
  /** Unique on its page: the title and description get ids from it. */
  id: string
  title: string
  description: string
  /** One for each value of a series, ascending and without gaps. */
  dates: readonly UtcDate[]
  /** At most eleven: ten and the rest. The first lies at the bottom. */
  series: readonly Series[]
}

/** Tokens per date as stacked areas. */
export function stackedChart({ title }: Chart): Html {
  return html`<svg role="img"><title>${title}</title></svg>`
}

/** Tokens per date as lines. */
export function lineChart({ title }: Chart): Html {
  return html`<svg role="img"><title>${title}</title></svg>`
}

/** The stacked chart as a file of its own, in light colours, with its title written above. */
export function standaloneChart({ title }: Chart): string {
  return html`<svg xmlns="http://www.w3.org/2000/svg" role="img"><title>${title}</title></svg>\n`.text
}
