import type { Manifest } from '../../contract/manifest.ts'
import { siteUrl } from '../../contract/site-url.ts'
import type { Table } from '../../contract/tables.ts'
import { hasOwnUrl } from '../../release/publisher.ts'
import { HEIGHT, type Publishing, WIDTH } from './frame.ts'

/** How a page names its picture. */
export interface PictureLink {
  path: string
  /** What it shows, for people who do not see it. */
  alt: string
  /** Services keep a picture by its address, so each release has its own. */
  release?: string
}

export const PICTURE_SIZE = { width: WIDTH, height: HEIGHT }

export const PICTURES = {
  /** Without numbers, for pages without a picture of their own. Those of releases never change, so they have this one. */
  card: 'pictures/card.png',
  overview: 'pictures/overview.png',
  daily: 'pictures/day.png',
  weekly: 'pictures/week.png',
  monthly: 'pictures/month.png',
  all: 'pictures/all.png',
} as const satisfies Record<Table | 'all' | 'card' | 'overview', string>

/** The address of a picture; undefined if the publisher has none: services take whole addresses alone. */
export function pictureUrl(
  { path, release }: Pick<PictureLink, 'path' | 'release'>,
  { publisher }: Publishing,
): string | undefined {
  if (!hasOwnUrl(publisher)) return undefined
  return siteUrl(publisher, release === undefined ? path : `${path}?release=${release}`)
}

export function cardLink({ publisher }: Publishing): PictureLink {
  return { path: PICTURES.card, alt: `${publisher.title}, published by ${publisher.name}` }
}

export function overviewLink({ release, end_date }: Manifest): PictureLink {
  return { path: PICTURES.overview, alt: `A chart of tokens per day and model up to ${end_date}`, release }
}

/** The picture of a leaderboard: of the newest period of a table, or of all time. */
export function boardLink(table: Table | 'all', { release, end_date }: Manifest): PictureLink {
  const alt = `The five models with the most tokens, with data up to ${end_date}`
  return { path: PICTURES[table], alt, release }
}
