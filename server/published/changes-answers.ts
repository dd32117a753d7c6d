import { DATASET_VERSION } from '../../pipeline/contract/ranking.ts'
import { TABLE_OF, type Table } from '../../pipeline/contract/tables.ts'
import { computedAnswers, encoded, oneAtATime } from './computed-answers.ts'
import type { Dataset } from './dataset.ts'
import type { Format } from './formats.ts'
import type { Coding } from './negotiation.ts'
import { changesBody, type RowsByDate } from './ranking-changes.ts'
import { contentHashOf, contentHeaders, type RankingsAnswer, rankingsHeaders, rankingsTag } from './rankings-answers.ts'

/** Two releases that both have the table of a period. */
export interface Comparison {
  from: Dataset
  to: Dataset
  period: keyof typeof TABLE_OF
}

/** Answers what differs between two releases. */
export function changesAnswers() {
  const answers = computedAnswers()
  const inTurn = oneAtATime()

  async function make(comparison: Comparison, etag: string, format: Format, coding: Coding): Promise<RankingsAnswer> {
    const { from, to, period } = comparison
    const table = TABLE_OF[period]
    const meta = {
      from: comparedRelease(from, table),
      to: comparedRelease(to, table),
      period,
      version: DATASET_VERSION,
    }
    const plain = await changesBody({ before: byDate(from, table), after: byDate(to, table), table }, format, meta)
    const body = await encoded(plain, coding)
    return {
      etag,
      headers: rankingsHeaders(to.manifest, { table, window: to.manifest }),
      tagIs: 'last',
      contentHeaders: contentHeaders(
        format,
        coding,
        `rankings-${table}-changes_${meta.from.release}_${meta.to.release}`,
      ),
      body: () => body,
    }
  }

  return {
    find(comparison: Comparison, format: Format, coding: Coding): RankingsAnswer | Promise<RankingsAnswer> {
      const table = TABLE_OF[comparison.period]
      const [from, to] = [comparison.from, comparison.to].map(({ manifest }) => {
        return rankingsTag(manifest, { table, window: manifest })
      })
      const etag = `"changes-${from}-${to}-${format}-${coding}"`
      return answers.find(etag, () => inTurn(() => make(comparison, etag, format, coding)))
    },
  }
}

function comparedRelease({ manifest }: Dataset, table: Table) {
  const { release, as_of, start_date, end_date } = manifest
  return { release, as_of, start_date, end_date, content_hash: contentHashOf(manifest, table) }
}

function byDate(dataset: Dataset, table: Table): RowsByDate {
  return {
    dates: dataset.dates(table),
    rowsOf: (date) => dataset.rows(table, { start_date: date, end_date: date }),
    bytesOf: (date) => Buffer.concat(dataset.answer(table, { start_date: date, end_date: date }, 'ndjson').pieces),
  }
}
