import type { RankingRow } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'
import { entriesOf, type LeaderboardRow, leaderboard } from './leaderboard.ts'

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
