import { formatShare, formatTokens } from '../../base/numbers.ts'
import type { RankingRow } from '../../contract/ranking.ts'
import { entriesOf, type LeaderboardRow, leaderboard } from '../leaderboard.ts'
import { SERIES } from '../palette.ts'
import { COLORS, EDGE, line, WIDTH } from './frame.ts'

const ROWS = 5
const TOP = 190
const ROW_HEIGHT = 70
const BAR_WIDTH = WIDTH - 2 * EDGE

/** The first five of a leaderboard, each with a bar, its tokens and its share. */
export function boardRows(rows: readonly RankingRow[]): string {
  const board = leaderboard(entriesOf(rows, (slug) => slug))
  const first = board.rows.filter(({ rank }) => rank !== null).slice(0, ROWS)
  const widest = first[0]?.tokens ?? 0n
  return first.map((row, position) => boardRow(row, position, { widest, total: board.total })).join('')
}

function boardRow(
  { name, rank, tokens }: LeaderboardRow,
  position: number,
  { widest, total }: { widest: bigint; total: bigint },
): string {
  const y = TOP + position * ROW_HEIGHT
  const width = widest === 0n ? 0 : Number((tokens * BigInt(BAR_WIDTH)) / widest)
  const numbers = `${formatTokens(tokens)} · ${formatShare(tokens, total)}`
  return `${line(EDGE, y + 32, `${rank}  ${name}`, 720, { size: 30 })}${line(WIDTH - EDGE, y + 32, numbers, 340, { size: 28, anchor: 'end', color: COLORS.quiet })}<rect x="${EDGE}" y="${y + 44}" width="${BAR_WIDTH}" height="12" fill="${COLORS.line}"/>
<rect x="${EDGE}" y="${y + 44}" width="${width}" height="12" fill="${SERIES[0]?.light ?? COLORS.ink}"/>
`
}
