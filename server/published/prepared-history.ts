import { standsIn } from '../../pipeline/contract/history-table.ts'
import type { ReleaseName } from '../../pipeline/contract/manifest.ts'
import type { Table } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import type { Link } from './composed-gzip.ts'
import type { DateVersion, HistoryVersions, Interval } from './history-versions.ts'
import { compressRows, mapTables, type PreparedRows, type PreparedTable, serialiseRows } from './prepared-table.ts'

interface PreparedVersion extends Interval {
  date: UtcDate
  /** The number of its piece, and how many rows it has. */
  piece: number
  length: number
}

/** A table of the history, one piece per version of a date. */
export interface PreparedVersions extends PreparedRows {
  /** By date. */
  versions: PreparedVersion[]
  /** The pieces of two dates that follow each other in some release, as one key: the number of their piece of gzip. */
  links: Map<number, number>
}

export type PreparedHistory = Partial<Record<Table, PreparedVersions>>

export function serialiseHistory(history: HistoryVersions): PreparedHistory {
  return mapTables(history, serialiseVersions)
}

/** Takes seconds for a year of releases. */
export function compressHistory(history: PreparedHistory): PreparedHistory {
  return mapTables(history, (table) => ({
    ...table,
    gzip: compressRows(table.rows, [...table.links.keys()].map(linkOf)),
  }))
}

/** The table of a release. It has no rows if the history does not have the release. */
export function tableAt({ versions, links, ...shared }: PreparedVersions, release: ReleaseName): PreparedTable {
  const standing = versions.filter((version) => standsIn(version, release))
  const pieces = Uint32Array.from(standing, ({ piece }) => piece)
  return {
    ...shared,
    dates: standing.map(({ date }) => date),
    length: standing.reduce((sum, { length }) => sum + length, 0),
    pieces,
    links: pieces.map((piece, index) => links.get(keyOf(pieces[index - 1] ?? 0, piece)) ?? 0),
  }
}

/**
 * Pieces are in the order in which the releases have them, the newest release first. What an older release has is
 * then some long runs and few single pieces.
 */
function serialiseVersions(ofTable: readonly DateVersion[]): PreparedVersions {
  const pieces = new Map<DateVersion, number>()
  const links = new Map<number, number>()
  for (const release of releasesOf(ofTable)) {
    let previous: number | undefined
    for (const version of ofTable) {
      if (!standsIn(version, release)) continue
      const piece = numberOf(pieces, version)
      if (previous !== undefined) numberOf(links, keyOf(previous, piece))
      previous = piece
    }
  }
  return {
    rows: serialiseRows([...pieces.keys()].map(({ rows }) => rows)),
    versions: ofTable.map((version) => {
      const { rows, ...rest } = version
      return { ...rest, piece: numberOf(pieces, version), length: rows.length }
    }),
    links,
  }
}

/** Those that differ from the one before, newest first. */
function releasesOf(versions: readonly Interval[]): ReleaseName[] {
  const ends = versions.flatMap(({ valid_from, valid_to }) => [valid_from, valid_to ?? valid_from])
  return [...new Set(ends)].sort().reverse()
}

/** The number of a key: keys are numbered as they come. */
function numberOf<K>(numbers: Map<K, number>, key: K): number {
  const number = numbers.get(key) ?? numbers.size
  numbers.set(key, number)
  return number
}

/** More pieces would not fit in memory. */
const MOST_PIECES = 2 ** 24

function keyOf(previous: number, piece: number): number {
  return previous * MOST_PIECES + piece
}

function linkOf(key: number): Link {
  return [Math.floor(key / MOST_PIECES), key % MOST_PIECES]
}
