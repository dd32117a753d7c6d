import { hash } from 'node:crypto'
import { html } from '../contract/html.ts'
import type { CoverageDay } from '../contract/ledger.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { type Masthead, renderPage } from './layout.ts'

/** The key of a page: of all that it shows, and of what all pages have around it. */
export function pageKeys(masthead: Masthead): (shown: unknown) => string {
  const frame = hash('sha256', renderPage({ path: '', title: '', description: '', main: html`` }, masthead).text)
  return (shown) => hash('sha256', `${frame} ${JSON.stringify(shown)}`)
}

/** By date, a hash of the rows of all dates up to it. */
export function hashesUpTo(days: readonly CoverageDay[]): Map<UtcDate, string> {
  let before = ''
  return new Map(
    days.map(({ date, content_hash }) => {
      before = hash('sha256', `${before} ${date} ${content_hash}`)
      return [date, before]
    }),
  )
}
