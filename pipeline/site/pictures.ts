import { GRAINS, TABLES } from '../contract/tables.ts'
import { hasOwnUrl } from '../release/publisher.ts'
import { shortenAll } from './chart/labels.ts'
import { drawScene } from './chart/scene.ts'
import { svgMarks } from './chart/svg.ts'
import { legendItems } from './chart.ts'
import type { SiteFacts } from './facts.ts'
import { newestPeriod, type Period } from './leaderboard-period.ts'
import { lightColor, SERIES } from './palette.ts'
import { boardRows } from './picture/board.ts'
import { EDGE, frame, line, type Publishing, WIDTH } from './picture/frame.ts'
import { PICTURES } from './picture/link.ts'
import { recentDays } from './recent.ts'
import { allTimeRows } from './totals.ts'

/** A picture that services show beside a link to a page, as SVG. It is published as PNG. */
export interface LinkPicture {
  path: string
  svg: string
}

/** The chart is drawn small and enlarged, so that its labels can be read on a phone. */
const CHART = { width: 730, height: 370 }
const SCALE = 2
const NAME_LETTERS = 23

type Told = Pick<SiteFacts, 'manifest' | 'rows' | 'periods' | 'models' | 'coverage'>

/** All pictures for links. None without an address of the publisher: services take whole addresses alone. */
export function linkPictures(facts: Told): LinkPicture[] {
  const { manifest } = facts
  if (!hasOwnUrl(manifest.publisher)) return []
  const boards = TABLES.flatMap((table) => {
    const period = newestPeriod(facts, table)
    return period === undefined ? [] : [{ path: PICTURES[table], svg: boardOf(period, manifest) }]
  })
  const about = `At least these tokens from ${manifest.start_date} to ${manifest.end_date} (UTC)`
  const allTime = frame({ title: 'Tokens by model, all time', about, content: boardRows(allTimeRows(facts)) }, manifest)
  return [
    { path: PICTURES.card, svg: cardOf(manifest) },
    { path: PICTURES.overview, svg: overviewOf(facts) },
    ...boards,
    { path: PICTURES.all, svg: allTime },
  ]
}

function boardOf({ table, first, last, rows, isProvisional }: Period, manifest: Publishing): string {
  const when = first === last ? first : `${first} to ${last}`
  const about = `The five models with the most tokens of the ${GRAINS[table]} (UTC)${isProvisional ? ', provisional' : ''}`
  return frame({ title: `Tokens by model, ${when}`, about, content: boardRows(rows) }, manifest)
}

function overviewOf({ manifest, rows, models }: Told): string {
  const order = models.map(({ model_permaslug }) => model_permaslug)
  const content = recentDays(rows, { provisionalFrom: manifest.provisional_from, order })
  const size = { width: CHART.width / SCALE, height: CHART.height / SCALE }
  const marks = svgMarks(drawScene(content, size).marks, lightColor)
  const { periods } = content
  const about = `Tokens per day and model, ${periods[0]?.start} to ${periods.at(-1)?.start} (UTC)`
  const chart = `<g transform="translate(${EDGE - 12} 175) scale(${SCALE})" font-size="12">\n${marks}</g>\n`
  const items = legendItems(content)
  const short = shortenAll(
    items.map(({ name }) => name),
    NAME_LETTERS,
  )
  const names = items.map(({ paint }, position) => legendRow(short[position] ?? '', lightColor(paint), position))
  return frame({ title: manifest.publisher.title, about, content: chart + names.join('') }, manifest)
}

function legendRow(name: string, color: string, position: number): string {
  const [x, y] = [EDGE + CHART.width + 10, 215 + position * 37]
  return `<rect x="${x}" y="${y - 18}" width="20" height="20" fill="${color}"/>\n${line(x + 32, y, name, WIDTH - EDGE - x - 32, { size: 23 })}`
}

/** The bars of the icon, large. */
function cardOf(manifest: Publishing): string {
  const { title, description } = manifest.publisher
  const bars = [120, 210, 300].map((height, position) => {
    const x = EDGE + position * 150
    return `<rect x="${x}" y="${520 - height}" width="110" height="${height}" fill="${SERIES[position * 2]?.light}"/>\n`
  })
  return frame({ title, about: description, content: bars.join('') }, manifest)
}
