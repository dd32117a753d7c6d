import { hash } from 'node:crypto'
import { DATASET_VERSION, type RankingMeta } from '../../pipeline/contract/ranking.ts'
import { MODELS_FILE } from '../../pipeline/contract/release-files.ts'
import { firstDateOf, firstProvisional, type Table } from '../../pipeline/contract/tables.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { wholePeriods } from '../../pipeline/contract/window.ts'
import { ApiError } from '../base/errors.ts'
import type { Answer, Dataset } from './dataset.ts'
import type { Coding, Format } from './negotiation.ts'
import {
  computedAnswers,
  contentHeaders,
  encoded,
  oneAtATime,
  type RankingsAnswer,
  rankingsHeaders,
  rankingsTag,
  type TableWindow,
  windowName,
} from './rankings-answers.ts'
import { type CellContext, jsonTail, rowsText } from './selected-text.ts'
import {
  type Field,
  type RankedRow,
  type RankedTable,
  type RowSelection,
  rankedTable,
  selectRows,
} from './selection.ts'

/** What a request selects of a window. */
export interface Selection extends RowSelection {
  fields?: readonly Field[] | undefined
  page?: Page | undefined
  /** The parameters as one text: equal texts select the same. */
  name: string
}

export interface Page {
  offset: number
  limit: number
  /** The URL of the page from another offset. */
  urlAt(offset: number): string
}

export interface SelectionRequest extends TableWindow {
  dataset: Dataset
  format: Format
  coding: Coding
  selection: Selection
}

export function needsAuthors({ author, fields }: Selection): boolean {
  return author !== undefined || fields?.includes('author') === true
}

/** Larger answers are made one after the other: making one takes several times its size in memory. */
const MOST_ROWS_AT_ONCE = 5000

/** Makes the answers of selections and caches them. A cached one is returned without a promise. */
export function selectedAnswers({ mostBytes }: { mostBytes?: number } = {}) {
  const answers = computedAnswers(mostBytes)
  const tableOf = rankedTables()
  const inTurn = oneAtATime()

  async function make(request: SelectionRequest, etag: string): Promise<RankingsAnswer> {
    const { dataset, table, window, format, coding, selection } = request
    const dates = { first: firstDateOf(table, window.start_date), last: window.end_date }
    const rows = await selectRows(tableOf(dataset, table), dates, selection, dataset.authors())
    const { page } = selection
    const sent = page === undefined ? rows : rows.slice(page.offset, page.offset + page.limit)
    const write = () => bodyOf(request, sent, rows.length)
    const body = await (sent.length > MOST_ROWS_AT_ONCE ? inTurn(write) : write())
    const headers = rankingsHeaders(dataset.manifest, request)
    return {
      etag,
      headers: { ...headers, ...pageHeaders(headers, page, rows.length) },
      tagIs: 'first',
      contentHeaders: contentHeaders(format, coding, windowName(request)),
      body: () => body,
    }
  }

  return {
    /** Throws 404 if the release does not have the authors that are asked for. */
    find(asked: SelectionRequest): RankingsAnswer | Promise<RankingsAnswer> {
      requireAuthors(asked)
      const request = { ...asked, window: wholePeriods(asked.table, asked.window, asked.dataset.manifest) }
      const etag = etagOf(request)
      return answers.find(etag, () => make(request, etag))
    },
  }
}

function requireAuthors({ dataset, selection }: SelectionRequest): void {
  if (!needsAuthors(selection) || dataset.authors() !== undefined) return
  throw new ApiError(404, `The release ${dataset.manifest.release} has no ${MODELS_FILE}, which names the authors`)
}

/** The tag of the window, and what is selected of it. Authors may differ between releases with the same rows. */
function etagOf({ dataset: { manifest }, table, window, format, coding, selection }: SelectionRequest): string {
  const models = manifest.files.find(({ path }) => path === MODELS_FILE)?.sha256
  const name = hash('sha256', `${selection.name} ${models} ${firstProvisional(table, manifest)}`).slice(0, 16)
  return `"${rankingsTag(manifest, { table, window })}-${format}-${coding}-${name}"`
}

async function bodyOf(request: SelectionRequest, rows: readonly RankedRow[], totalCount: number): Promise<Answer> {
  const { dataset, table, window, format, coding, selection } = request
  const { manifest } = dataset
  const context: CellContext = {
    authors: dataset.authors() ?? new Map(),
    provisionalFrom: firstProvisional(table, manifest),
  }
  const pieces = await rowsText(rows, selection.fields ?? fieldsOf(table), format, context)
  if (format === 'json') {
    const meta: RankingMeta = { as_of: manifest.as_of, ...window, version: DATASET_VERSION }
    pieces.push(jsonTail(meta, selection.page && { next: nextOf(selection.page, totalCount), totalCount }))
  }
  return await encoded(Buffer.concat(pieces), coding)
}

/** The columns of a table itself. */
function fieldsOf(table: Table): readonly Field[] {
  const fields: Field[] = ['date', 'model_permaslug', 'total_tokens']
  return table === 'daily' ? fields : [...fields, 'days']
}

function nextOf({ offset, limit, urlAt }: Page, totalCount: number): string | null {
  return offset + limit < totalCount ? urlAt(offset + limit) : null
}

function pageHeaders({ link }: Readonly<Record<string, string>>, page: Page | undefined, totalCount: number) {
  if (page === undefined) return {}
  const next = nextOf(page, totalCount)
  return {
    'x-total-count': String(totalCount),
    ...(next !== null && { link: `${link}, <${next}>; rel="next"` }),
  }
}

/** Ranks each table of a release once. */
function rankedTables() {
  const known = new WeakMap<Dataset, Map<Table, RankedTable>>()

  return (dataset: Dataset, table: Table): RankedTable => {
    const ofDataset = known.get(dataset) ?? new Map<Table, RankedTable>()
    known.set(dataset, ofDataset)
    const rowsOf = (date: UtcDate) => dataset.rows(table, { start_date: date, end_date: date })
    const ranked = ofDataset.get(table) ?? rankedTable(dataset.dates(table), rowsOf)
    ofDataset.set(table, ranked)
    return ranked
  }
}
