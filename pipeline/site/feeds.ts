import { toJson } from '../base/json.ts'
import { plural } from '../base/numbers.ts'
import { titleOf } from '../contract/citation.ts'
import { escapeXml } from '../contract/html.ts'
import type { Restatement } from '../contract/ledger.ts'
import {
  DATASET_PATH,
  type Manifest,
  type Publisher,
  type ReleaseEntry,
  type ReleaseIndex,
} from '../contract/manifest.ts'
import { FEED_FILES } from '../contract/published-paths.ts'
import { siteUrl } from '../contract/site-url.ts'
import { DATASET_START } from '../contract/utc-date.ts'
import { countPeriods, describeRestated } from '../dataset/restated.ts'
import type { Page } from './layout.ts'

const RELEASES_LISTED = 100

export type Category = 'release' | 'restatement' | 'schema' | 'notice'

interface Item {
  /** The same wherever the files are served. */
  id: string
  category: Category
  title: string
  text: string
  /** The instant of the release, not of the build: equal inputs give equal feeds. */
  date: string
  url: string
}

/** The Atom feed and the JSON Feed, newest first, titled like the current release. */
export function renderFeeds(
  about: Pick<Manifest, 'publisher' | 'synthetic'>,
  index: ReleaseIndex,
  restatements: readonly Restatement[],
): Page[] {
  const publisher = { ...about.publisher, title: titleOf(about) }
  const listed = index.releases.slice(-RELEASES_LISTED)
  const items = listed.flatMap((entry, position) =>
    itemsOf(publisher, entry, {
      isFirst: position === 0 && listed.length === index.releases.length,
      restatement: restatements.find(({ release }) => release === entry.release),
    }),
  )
  const withdrawals = index.releases.flatMap((entry) => withdrawalOf(publisher, entry))
  // The sort is stable: with equal dates, a withdrawal stays after its release.
  const newestFirst = [...items, ...withdrawals]
    .toReversed()
    .sort((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0))
  return [
    { path: FEED_FILES.atom, text: atom(publisher, newestFirst) },
    { path: FEED_FILES.json, text: jsonFeed(publisher, newestFirst) },
  ]
}

function itemsOf(
  publisher: Publisher,
  entry: ReleaseEntry,
  { isFirst, restatement }: { isFirst: boolean; restatement: Restatement | undefined },
): Item[] {
  const { release, as_of, data_version, changed = [] } = entry
  const page = `${DATASET_PATH}/${entry.path}`
  const item = (category: Category, title: string, text: string, url: string): Item => ({
    id: tag(publisher, category === 'release' ? release : `${release}/${category}`),
    category,
    title,
    text,
    date: as_of,
    url: siteUrl(publisher, url),
  })
  const about = isFirst ? [] : changed
  const items = [item('release', `Release ${release}, version ${data_version}`, describe(entry), page)]
  if (restatement !== undefined) {
    const { id, dates, periods, reason, note } = restatement
    const text = `${describeRestatement(restatement)} Reason: ${reason}.${note === null ? '' : ` ${note}`}`
    const what = dates.length === 0 ? countPeriods(periods) : `${dates.length} ${plural(dates.length, 'final date')}`
    const title = `Restatement: ${what} changed`
    items.push(item('restatement', title, text, `changelog.html#${id}`))
  }
  if (about.some((fact) => fact === 'schema' || fact === 'version')) {
    items.push(item('schema', 'The form of the data has changed', 'See the page of the release.', page))
  }
  const notices = [
    ...(about.includes('publisher') ? ['The publisher, the title or the description has changed.'] : []),
    ...(about.includes('synthetic') ? ['From here on the data are of another kind: synthetic or real.'] : []),
  ]
  if (notices.length > 0) items.push(item('notice', `About release ${release}`, notices.join(' '), page))
  return items
}

function withdrawalOf(publisher: Publisher, { release, path, withdrawal }: ReleaseEntry): Item[] {
  if (withdrawal === undefined) return []
  return [
    {
      id: tag(publisher, `${release}/withdrawal`),
      category: 'notice',
      title: `Release ${release} was withdrawn`,
      text: `Do not use this release any more. Reason: ${withdrawal.reason}`,
      date: withdrawal.withdrawn_at,
      url: siteUrl(publisher, `${DATASET_PATH}/${path}`),
    },
  ]
}

function describe({ start_date, end_date, rows, content_hash }: ReleaseEntry): string {
  return `${start_date} to ${end_date}, ${rows} ${plural(rows, 'row')}.${content_hash === undefined ? '' : ` content_hash ${content_hash}.`}`
}

function describeRestatement(restatement: Restatement): string {
  const { dates, periods = [], rows_before, rows_after, tokens_before, tokens_after } = restatement
  const ofPeriods = periods.length === 0 ? '' : `${describeRestated({ dates: [], periods })}.`
  if (dates.length === 0) return `${ofPeriods} No date changed.`
  const [first, last] = [dates.at(0)?.date, dates.at(-1)?.date]
  const when = first === last ? first : `${first} to ${last}`
  const rows = `${rows_before} -> ${rows_after} ${plural(rows_after, 'row')}`
  return `${when}: ${rows}, ${tokens_before} -> ${tokens_after} tokens.${ofPeriods === '' ? '' : ` With them ${ofPeriods}`}`
}

/** A `tag:` URI (RFC 4151) of the publisher's host, so that copies have the same ids. */
function tag(publisher: Publisher, name: string): string {
  return `tag:${new URL(publisher.url).hostname},${DATASET_START}:${DATASET_PATH}${name === '' ? '' : `/${name}`}`
}

function atom(publisher: Publisher, items: readonly Item[]): string {
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${escapeXml(tag(publisher, ''))}</id>`,
    `<title>${escapeXml(publisher.title)}</title>`,
    `<updated>${items[0]?.date ?? ''}</updated>`,
    `<author><name>${escapeXml(publisher.name)}</name></author>`,
    `<link rel="self" type="application/atom+xml" href="${escapeXml(siteUrl(publisher, 'feed.atom'))}"/>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(siteUrl(publisher, ''))}"/>`,
    ...items.flatMap((item) => [
      '<entry>',
      `<id>${escapeXml(item.id)}</id>`,
      `<title>${escapeXml(item.title)}</title>`,
      `<updated>${item.date}</updated>`,
      `<category term="${item.category}"/>`,
      `<link rel="alternate" href="${escapeXml(item.url)}"/>`,
      `<summary>${escapeXml(item.text)}</summary>`,
      '</entry>',
    ]),
    '</feed>',
  ]
  return `${lines.join('\n')}\n`
}

function jsonFeed(publisher: Publisher, items: readonly Item[]): string {
  return toJson({
    version: 'https://jsonfeed.org/version/1.1',
    title: publisher.title,
    description: publisher.description,
    home_page_url: siteUrl(publisher, ''),
    feed_url: siteUrl(publisher, 'feed.json'),
    language: 'en',
    authors: [{ name: publisher.name, url: publisher.url }],
    items: items.map(({ id, category, title, text, date, url }) => ({
      id,
      url,
      title,
      content_text: text,
      date_published: date,
      tags: [category],
    })),
  })
}
