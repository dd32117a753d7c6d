import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { BuildError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { type DisclosureSettings, ruleOf } from '../contract/disclosure.ts'
import { DISCLOSURE_FILE, DisclosureFile, type DisclosurePeriod } from '../contract/disclosure-file.ts'
import type { Manifest } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { PublishedDate } from './published-dates.ts'

/** Joins published dates, in order, that follow each other and have the same rule. */
export function toPeriods(dates: readonly Pick<PublishedDate, 'date' | 'rule'>[]): DisclosurePeriod[] {
  const periods: DisclosurePeriod[] = []
  for (const { date, rule } of dates) {
    const period = periods.at(-1)
    if (period !== undefined && isDeepStrictEqual(period.rule, rule)) period.end_date = date
    else periods.push({ start_date: date, end_date: date, rule })
  }
  return periods
}

/** From which date on all periods have a rule; null if the newest one does not. */
export function heldSince(periods: readonly DisclosurePeriod[], rule: DisclosureSettings): UtcDate | null {
  const other = periods.findLastIndex((period) => !isDeepStrictEqual(period.rule, rule))
  return periods[other + 1]?.start_date ?? null
}

/** Undefined for a release without a rule. Throws `BuildError` if the file is invalid. */
export async function readDisclosure(folder: string, { files }: Manifest): Promise<DisclosureFile | undefined> {
  if (!files.some(({ path }) => path === DISCLOSURE_FILE)) return undefined
  const path = join(folder, DISCLOSURE_FILE)
  return parseJson(DisclosureFile, await readFile(path, 'utf8'), path, BuildError)
}

/** Verifies that a release under a rule says what its manifest and its rows say. Throws `BuildError`. */
export async function verifyDisclosure(folder: string, manifest: Manifest, rows: readonly RankingRow[]): Promise<void> {
  const found = await readDisclosure(folder, manifest)
  const path = join(folder, DISCLOSURE_FILE)
  const { dataset, release, as_of, synthetic, disclosure } = manifest
  if (disclosure === undefined || disclosure === 'none' || found === undefined) {
    if ((ruleOf(disclosure) !== undefined) === (found !== undefined)) return
    throw new BuildError(`${path} ${found === undefined ? 'is missing' : 'is there'}, but the manifest says otherwise`)
  }
  const { periods, joined_cells, dates_not_published } = found
  const dates = [...new Set(rows.map(({ date }) => date))]
  const ruleAt = (date: string) => periods.find(({ start_date, end_date }) => start_date <= date && date <= end_date)
  const expected = toPeriods(dates.map((date) => ({ date, rule: ruleAt(date)?.rule ?? null })))
  const facts = {
    dataset,
    release,
    as_of,
    synthetic,
    ...disclosure,
    periods: expected,
    joined_cells,
    dates_not_published,
  }
  const wrong = Object.entries(facts).find(
    ([key, value]) => !isDeepStrictEqual(found[key as keyof DisclosureFile], value),
  )
  if (wrong === undefined && disclosure.since === heldSince(expected, disclosure.rule)) return
  throw new BuildError(`${path} says another ${wrong?.[0] ?? 'since'} than the manifest and the rows`)
}
