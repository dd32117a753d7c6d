import type { Coverage } from '../../pipeline/contract/history.ts'
import type { Manifest, ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import type { ModelFacts } from '../../pipeline/contract/model-facts.ts'
import { OTHER, type RankingRow } from '../../pipeline/contract/ranking.ts'
import { addDays, daysBetween } from '../../pipeline/contract/utc-date.ts'
import { describeDataset } from '../../pipeline/metadata/describe.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
import { manifestOf } from './manifest.ts'

/** Rows of one date, in the order given: `['2026-11-19', { 'a/b': 5, other: 3 }]`. */
export type Day = readonly [date: string, tokens: Readonly<Record<string, bigint | number>>]

export function rowsOf(days: readonly Day[]): RankingRow[] {
  return days.flatMap(([date, tokens]) =>
    Object.entries(tokens).map(([model_permaslug, count]) => ({ date, model_permaslug, total_tokens: String(count) })),
  )
}

/** As many days as are asked for up to the last, each with as many models, and the rest. */
export function manyRows(days: number, models: number, last = '2026-11-19'): RankingRow[] {
  return rowsOf(
    Array.from({ length: days }, (_, day) => {
      const date = addDays(last, day - days + 1)
      const names = Array.from({ length: models }, (_, rank) => {
        return [`author-${rank % 7}/model-number-${rank}-20260101`, 2_000_000_000_000n / BigInt(rank + 1) + BigInt(day)]
      })
      return [date, Object.fromEntries([...names, [OTHER, 700_000_000_000n]])]
    }),
  )
}

/** The facts of a release of these rows; what they do not say is made up. */
export function siteFacts(
  rows: readonly RankingRow[],
  changes: { manifest?: Partial<Manifest>; index?: ReleaseEntry[]; restatements?: SiteFacts['restatements'] } = {},
): SiteFacts {
  const dates = [...new Set(rows.map(({ date }) => date))]
  const [start_date = '', end_date = ''] = [dates[0], dates.at(-1)]
  const provisional_from = addDays(end_date, -2)
  const counts = { start_date, end_date, provisional_from, days: dates.length, rows: rows.length }
  const manifest = manifestOf({ ...counts, ...changes.manifest })
  const index = { dataset: manifest.dataset, releases: changes.index ?? [entryOf(manifest)] }
  return {
    manifest,
    dataset: describeDataset(manifest),
    release: `datasets/rankings-daily/v1/releases/${manifest.release}/`,
    rows,
    models: modelsOf(rows),
    index,
    coverage: coverageOf(rows, manifest),
    restatements: changes.restatements ?? [],
  }
}

/** The line of the index for a release. */
export function entryOf(manifest: Manifest, changes: Partial<ReleaseEntry> = {}): ReleaseEntry {
  const { release, as_of, start_date, end_date, rows, content_hash, data_version } = manifest
  const hash = 'c'.repeat(64)
  const path = `releases/${release}/`
  const facts = { release, as_of, start_date, end_date, rows, content_hash, data_version, path }
  return { ...facts, manifest_sha256: hash, previous: null, hash, status: 'current', ...changes }
}

function modelsOf(rows: readonly RankingRow[]): ModelFacts[] {
  const named = Map.groupBy(
    rows.filter(({ model_permaslug }) => model_permaslug !== OTHER),
    ({ model_permaslug }) => model_permaslug,
  )
  return [...named].map(([model_permaslug, own]) => ({
    model_permaslug,
    name: '',
    author: '',
    aliases: [],
    first_date: own[0]?.date ?? '',
    last_date: own.at(-1)?.date ?? '',
    days: own.length,
    best_rank: 1,
    best_rank_date: own[0]?.date ?? '',
    total_tokens: String(own.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)),
  }))
}

function coverageOf(rows: readonly RankingRow[], manifest: Manifest): Coverage {
  const { release, as_of, start_date, end_date, provisional_from } = manifest
  const byDate = Map.groupBy(rows, ({ date }) => date)
  const days = Array.from({ length: daysBetween(start_date, end_date) + 1 }, (_, index) => {
    const date = addDays(start_date, index)
    const own = byDate.get(date) ?? []
    const isThere = own.length > 0
    return {
      date,
      status: isThere
        ? date < provisional_from
          ? ('final' as const)
          : ('provisional' as const)
        : ('missing' as const),
      reason: isThere ? null : ('no_public_usage' as const),
      rows: own.length,
      total_tokens: String(own.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)),
      revision: isThere ? 1 : null,
      content_hash: null,
      release: isThere ? release : null,
    }
  })
  return { dataset: 'rankings-daily', release, as_of, start_date, end_date, provisional_from, days, months: [] }
}
