/** Facts of a site by hand, and what a reader finds on its pages. */
import { createHash } from 'node:crypto'
import type { Coverage, CoverageDay, Restatement } from '../../pipeline/contract/ledger.ts'
import type { Manifest, ReleaseEntry, ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { addDays, DATASET_START, daysBetween } from '../../pipeline/contract/utc-date.ts'
import { modelFacts } from '../../pipeline/dataset/model-facts.ts'
import { describeDataset } from '../../pipeline/release/documents/describe.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
import { manifestOf } from './manifest.ts'

export function rankingRow(date: string, model_permaslug: string, tokens: number | bigint): RankingRow {
  return { date, model_permaslug, total_tokens: String(tokens) }
}

/** What a build would know of a site whose current release has these rows, in published order. */
export function siteFacts(
  rows: readonly RankingRow[],
  { manifest = {}, ...changes }: Partial<Omit<SiteFacts, 'manifest'>> & { manifest?: Partial<Manifest> } = {},
): SiteFacts {
  const [first, last] = [rows[0]?.date ?? DATASET_START, rows.at(-1)?.date ?? DATASET_START]
  const counts = { days: new Set(rows.map(({ date }) => date)).size, rows: rows.length }
  const dates = { start_date: first, end_date: last, provisional_from: addDays(last, -2) }
  const whole = manifestOf({ ...dates, ...counts, ...manifest })
  const index = changes.index ?? indexOf([])
  return {
    manifest: whole,
    dataset: describeDataset(whole),
    release: `datasets/rankings-daily/v1/releases/${whole.release}/`,
    rows,
    periods: undefined,
    models: modelFacts({ rows, periods: undefined }),
    index,
    coverage: coverageOf(rows, whole),
    restatements: [],
    dois: undefined,
    ...changes,
  }
}

/** Every day from the first with rows: final or provisional where there are rows, else missing. */
function coverageOf(rows: readonly RankingRow[], { release, as_of, end_date, provisional_from }: Manifest): Coverage {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  const start_date = rows[0]?.date ?? DATASET_START
  const days = Array.from({ length: daysBetween(start_date, end_date) + 1 }, (_, day): CoverageDay => {
    const date = addDays(start_date, day)
    const own = byDate.get(date) ?? []
    const isThere = own.length > 0
    return {
      date,
      status: !isThere ? 'missing' : date < provisional_from ? 'final' : 'provisional',
      reason: isThere ? null : 'no_public_usage',
      rows: own.length,
      total_tokens: String(own.reduce((sum, row) => sum + BigInt(row.total_tokens), 0n)),
      revision: isThere ? 1 : null,
      content_hash: isThere ? `sha256:${'ab'.repeat(32)}` : null,
      release: isThere ? release : null,
    }
  })
  const about = { dataset: 'rankings-daily' as const, release, as_of, start_date, end_date }
  return { ...about, provisional_from, days, months: [] }
}

export function indexOf(releases: ReleaseEntry[]): ReleaseIndex {
  return { dataset: 'rankings-daily', releases }
}

/** The entry of a release made a quarter past midnight after `end_date`. */
export function releaseEntry(end_date: string, changes: Partial<ReleaseEntry> = {}): ReleaseEntry {
  const as_of = `${addDays(end_date, 1)}T00:15:00Z`
  const release = as_of.replaceAll(/[-:]/g, '')
  return {
    release,
    as_of,
    start_date: DATASET_START,
    end_date,
    rows: 51,
    content_hash: `sha256:${'ab'.repeat(32)}`,
    path: `releases/${release}/`,
    manifest_sha256: 'a'.repeat(64),
    data_version: '1.0.0',
    changed: ['content_hash', 'end_date', 'day_status'],
    previous: null,
    hash: createHash('sha256').update(release).digest('hex'),
    status: 'superseded',
    ...changes,
  }
}

/** A restatement of one day by the release of an entry. */
export function restatementOn(
  date: string,
  { release, as_of }: ReleaseEntry,
  changes: Partial<Restatement> = {},
): Restatement {
  const sums = { rows_before: 51, rows_after: 51, tokens_before: '1000', tokens_after: '1050' }
  const about = { id: `restatement-${release}`, release, as_of, reason: 'late_data' as const, note: null }
  return { ...about, ...sums, dates: [{ date, ...sums }], ...changes }
}

/** The text of a page as a reader sees it: no tags, entities resolved, blanks as one. */
export function textOf(html: string): string {
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole)
    .replaceAll(/\s+/g, ' ')
}

/** The cells of each row of the body of the table with a caption. */
export function tableRows(html: string, caption: string): string[][] {
  const table = html
    .split('<table')
    .slice(1)
    .find((piece) => textOf(piece.split('</caption>')[0] ?? '').includes(caption))
  if (table === undefined) throw new Error(`there is no table ${caption}`)
  const [, body = ''] = table.split(/<tbody[^>]*>/)
  const rows = (body.split('</tbody>')[0] ?? '').split('</tr>').slice(0, -1)
  return rows.map((row) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell).trim()),
  )
}

/** Every link of a page to another place, as a path below the public folder. */
export function linksOf({ path, text }: { path: string; text: string }): string[] {
  const targets = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target = '']) =>
    target.replaceAll('&amp;', '&'),
  )
  // Links of the page for missing addresses begin with the path of the publisher's URL.
  const [, root = '/'] = /<link rel="stylesheet" href="(\/.*\/)?assets\//.exec(text) ?? []
  const site = `https://site.example${root}`
  return targets
    .map((target) => new URL(target, `${site}${path}`))
    .filter(({ href }) => href.startsWith(site))
    .map(({ pathname }) => pathname.slice(root.length))
}

/** The scripts and stylesheets that a page loads, as paths below the public folder, with the `integrity` of their elements. */
export function loadedBy({
  path,
  text,
}: {
  path: string
  text: string
}): [path: string, integrity: string | undefined][] {
  const elements = text.match(/<(?:script[^>]* src=|link rel="(?:stylesheet|modulepreload)")[^>]*>/g) ?? []
  return elements.flatMap((text) => {
    const [, integrity] = / integrity="([^"]*)"/.exec(text) ?? []
    return linksOf({ path, text }).map((link): [string, string | undefined] => [link, integrity])
  })
}

/** What the `integrity` of an element is that loads these bytes. */
export function integrityOf(bytes: string): string {
  return `sha384-${createHash('sha384').update(bytes).digest('base64')}`
}

/** What no page may have: it would be forbidden by the pages' own policy, or loaded from elsewhere. */
export function faultsOf(html: string): string[] {
  const rules: [string, RegExp][] = [
    ['inline style', /\sstyle=|<style/],
    ['inline script', /<script(?![^>]*(?:src=|application\/ld\+json))/],
    ['handler', /\son\w+="/],
    ['absolute path', /(?:href|src)="\//],
    ['foreign source', /src="https?:/],
    ['more or less than one h1', /^(?!(?:(?!<h1)[\s\S])*<h1(?:(?!<h1)[\s\S])*$)/],
  ]
  return rules.filter(([, pattern]) => pattern.test(html)).map(([name]) => name)
}
