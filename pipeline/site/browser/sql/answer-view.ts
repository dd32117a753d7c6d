import { counted, formatInteger } from '../../../base/numbers.ts'
import { MOST_SERIES } from '../../chart/colors.ts'
import { type Content, drawScene } from '../../chart/scene.ts'
import { chartElement, nameItems } from '../explore/chart-element.ts'
import { byId, make } from '../explore/dom.ts'
import { answerContent, type ChartColumns, chartColumns, chartQuery } from './answer-chart.ts'
import type { Cell, Column } from './cells.ts'
import type { Answer, SqlDatabase } from './database.ts'

const NUMBER = /^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL|FLOAT|DOUBLE)/

/** The answer as table and chart. */
export function answerView() {
  const table = byId('rows', HTMLTableElement)
  const place = byId('chart', HTMLDivElement)
  const names = byId('legend', HTMLUListElement)
  const notes = byId('chart-notes', HTMLElement)
  let drawn: { content: Content; columns: ChartColumns } | undefined

  function draw(): void {
    const { clientWidth: width, clientHeight: height } = place
    if (drawn === undefined || width === 0) return
    const { content, columns } = drawn
    const scene = drawScene(content, { width, height })
    const of = columns.name === undefined ? '' : ` and ${columns.name.name}`
    const title = `${columns.value.name} by ${columns.date.name}${of}`
    const description = `${content.series.length} series of ${content.periods.length} periods. The table below has the numbers.`
    place.replaceChildren(chartElement(scene, { title, description }))
    names.hidden = scene.isLabelled || content.series.length < 2
  }

  function showChart(content: Content | string, columns: ChartColumns): void {
    const isDrawn = typeof content !== 'string'
    drawn = isDrawn ? { content, columns } : undefined
    place.hidden = !isDrawn
    names.hidden = true
    place.replaceChildren()
    notes.textContent = isDrawn ? notesOn(content) : `No chart: ${content}`
    if (isDrawn) names.replaceChildren(...nameItems(content.series.toReversed()))
    draw()
  }

  new ResizeObserver(draw).observe(place)

  return {
    async show({ columns, rows, count }: Answer, database: SqlDatabase): Promise<void> {
      table.tHead?.replaceChildren(make('tr', {}, ...columns.map(headOf)))
      table.tBodies[0]?.replaceChildren(...rows.map((row) => rowOf(row, columns)))
      byId('count', HTMLSpanElement).textContent =
        rows.length < count
          ? `The first ${formatInteger(rows.length)} of ${formatInteger(count)} rows are below.`
          : counted(count, 'row')
      const drawable = count === 0 ? undefined : chartColumns(columns)
      byId('answer-figure', HTMLElement).hidden = drawable === undefined
      byId('answer', HTMLElement).hidden = false
      if (drawable === undefined) drawn = undefined
      else showChart(answerContent(await database.cells(chartQuery(drawable)), drawable), drawable)
    },
    hide(): void {
      byId('answer', HTMLElement).hidden = true
    },
  }
}

function notesOn({ series, totals }: Content): string {
  const gaps = totals.filter((total) => total === null).length
  return [
    ...(series.length === MOST_SERIES ? [`At most the ${MOST_SERIES} largest are drawn.`] : []),
    ...(gaps > 0 ? [`${formatInteger(gaps)} dates between have no rows.`] : []),
  ].join(' ')
}

function headOf({ name, type }: Column): HTMLTableCellElement {
  const small = make('small', {}, type)
  return make('th', { scope: 'col', ...(NUMBER.test(type) && { class: 'number' }) }, name, ' ', small)
}

function rowOf(cells: readonly Cell[], columns: readonly Column[]): HTMLTableRowElement {
  const elements = cells.map((cell, at) => {
    const kind = cell === null ? 'quiet' : NUMBER.test(columns[at]?.type ?? '') ? 'number' : ''
    return make('td', kind === '' ? {} : { class: kind }, cell ?? 'NULL')
  })
  return make('tr', {}, ...elements)
}
