import { byCodePoints } from '../contract/code-points.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'

/** Tokens under a name: a model, a family, an author. */
export interface Entry {
  name: string
  tokens: bigint
  /** False for `other` and for sums over models that have no such name. They come last. */
  isRanked: boolean
}

/** Where a name was in the period before. */
export type Before =
  | { kind: 'known'; rank: number | null; tokens: bigint }
  /** The period before does not name it. */
  | { kind: 'new' }
  /** There is no period before, or it has no such row without a rank. */
  | { kind: 'unknown' }

export interface LeaderboardRow {
  name: string
  /** Null without a rank. Such a row may be larger than any other. */
  rank: number | null
  tokens: bigint
  before: Before
}

export interface Leaderboard {
  rows: LeaderboardRow[]
  total: bigint
  /** Names with a rank in the period before and no row now, by that rank. */
  dropped: string[]
}

/** The entries of one period's rows, summed by `nameOf`. It returns undefined for models that have no such name. */
export function entriesOf(
  rows: readonly RankingRow[],
  nameOf: (slug: string) => string | undefined,
  nameless = 'no name',
): Entry[] {
  const sums = new Map<string, bigint>()
  let [without, other]: [bigint | undefined, bigint | undefined] = [undefined, undefined]
  for (const { model_permaslug: slug, total_tokens } of rows) {
    const tokens = BigInt(total_tokens)
    const name = slug === OTHER ? undefined : nameOf(slug)
    if (slug === OTHER) other = (other ?? 0n) + tokens
    else if (name === undefined) without = (without ?? 0n) + tokens
    else sums.set(name, (sums.get(name) ?? 0n) + tokens)
  }
  const rest = (name: string, tokens: bigint | undefined) =>
    tokens === undefined ? [] : [{ name, tokens, isRanked: false }]
  const named = [...sums].map(([name, tokens]) => ({ name, tokens, isRanked: true }))
  return [...named, ...rest(nameless, without), ...rest(OTHER, other)]
}

/** Ranks entries by tokens, ties by code points, and compares them with the period before, which may have no entries. */
export function leaderboard(now: readonly Entry[], before: readonly Entry[] = []): Leaderboard {
  const ranked = rank(now)
  const previous = new Map(rank(before).map((row) => [keyOf(row), row]))
  const named = new Set(ranked.map(keyOf))
  const beforeOf = (row: Ranked): Before => {
    const found = previous.get(keyOf(row))
    if (found !== undefined) return { kind: 'known', rank: found.rank, tokens: found.tokens }
    return { kind: previous.size === 0 || row.rank === null ? 'unknown' : 'new' }
  }
  const gone = [...previous.values()].filter((row) => row.rank !== null && !named.has(keyOf(row)))
  return {
    rows: ranked.map((row) => ({ ...row, before: beforeOf(row) })),
    total: now.reduce((sum, { tokens }) => sum + tokens, 0n),
    dropped: gone.map(({ name }) => name),
  }
}

/** The first ranks of a leaderboard. Everything below them is summed in one row `restName`, `other` included. */
export function firstRanks(board: Leaderboard, most: number, restName: string): Leaderboard {
  const isShown = ({ rank }: LeaderboardRow) => rank !== null && rank <= most
  const rest = board.rows.filter((row) => !isShown(row))
  if (rest.every(({ rank }) => rank === null)) return board
  const tokens = rest.reduce((sum, row) => sum + row.tokens, 0n)
  const row: LeaderboardRow = { name: restName, rank: null, tokens, before: { kind: 'unknown' } }
  return { ...board, rows: [...board.rows.filter(isShown), row] }
}

type Ranked = Pick<LeaderboardRow, 'name' | 'rank' | 'tokens'>

/** An author may have the name of a row without a rank. */
function keyOf({ name, rank }: Ranked): string {
  return `${rank === null ? 'rest' : 'name'} ${name}`
}

function rank(entries: readonly Entry[]): Ranked[] {
  const named = entries.filter(({ isRanked }) => isRanked).sort(byTokens)
  const rest = entries.filter(({ isRanked }) => !isRanked)
  return [
    ...named.map(({ name, tokens }, position) => ({ name, rank: position + 1, tokens })),
    ...rest.map(({ name, tokens }) => ({ name, rank: null, tokens })),
  ]
}

function byTokens(one: Entry, other: Entry): number {
  if (one.tokens !== other.tokens) return one.tokens > other.tokens ? -1 : 1
  return byCodePoints(one.name, other.name)
}

/** The dates that a model is compared with others on: the last of those that name it, and the ones before. */
export const WINDOW_DAYS = 30

/** How many models are shown on each side. */
const EACH_SIDE = 2

export interface Standing {
  /** The model between those ranked just above and just below it. */
  near: readonly LeaderboardRow[]
  own: LeaderboardRow | undefined
  /** All tokens of the window. */
  total: bigint
}

/** Ranks models by their tokens in the 30 days up to a date. Windows are ranked once. */
export function standings(rows: readonly RankingRow[]): (slug: string, last: UtcDate) => Standing {
  const byDate = Map.groupBy(rows, ({ date }) => date)
  const boards = new Map<UtcDate, ReturnType<typeof leaderboard>>()
  const boardOf = (last: UtcDate) => {
    const dates = Array.from({ length: WINDOW_DAYS }, (_, day) => addDays(last, day - WINDOW_DAYS + 1))
    return leaderboard(
      entriesOf(
        dates.flatMap((date) => byDate.get(date) ?? []),
        (slug) => slug,
      ),
    )
  }
  return (slug, last) => {
    const board = boards.get(last) ?? boardOf(last)
    boards.set(last, board)
    const models = board.rows.filter(({ rank }) => rank !== null)
    const place = models.findIndex(({ name }) => name === slug)
    const near = place === -1 ? [] : models.slice(Math.max(place - EACH_SIDE, 0), place + EACH_SIDE + 1)
    return { near, own: models[place], total: board.total }
  }
}
