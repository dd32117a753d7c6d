import { DATASET_VERSION } from '../../pipeline/contract/ranking.ts'
import { TABLE_OF, type Table } from '../../pipeline/contract/tables.ts'
import { computedAnswers, encoded, oneAtATime } from './computed-answers.ts'
import type { Answer, Dataset } from './dataset.ts'
import { CONTENT_TYPE_OF, type Format } from './formats.ts'
import type { Coding } from './negotiation.ts'
import { changesBody, type RowsByDate } from './ranking-changes.ts'
import { contentHashOf, rankingsHeaders, rankingsTag } from './rankings-answers.ts'

/** Two releases that both have the table of a period. */
export interface Comparison {
  from: Dataset
  to: Dataset
  period: keyof typeof TABLE_OF
}

export interface ChangesAnswer {
  etag: string
  /** Also sent with a 304. Those of the release to which the changes lead. */
  headers: Record<string, string>
  contentHeaders: Record<string, string>
  body: () => Answer | Promise<Answer>
}

/** Answers what differs between two releases. Bodies are cached. */
export function changesAnswers() {
  const bodies = computedAnswers<Answer>(({ bytes }) => bytes)
  const inTurn = oneAtATime()

  return ({ from, to, period }: Comparison, format: Format, coding: Coding): ChangesAnswer => {
    const table = TABLE_OF[period]
    const [before, after] = [from, to].map(({ manifest }) => rankingsTag(manifest, { table, window: manifest }))
    const etag = `"changes-${before}-${after}-${format}-${coding}"`
    const meta = {
      from: comparedRelease(from, table),
      to: comparedRelease(to, table),
      period,
      version: DATASET_VERSION,
    }
    const compute = async () => {
      const plain = await changesBody({ before: byDate(from, table), after: byDate(to, table), table }, format, meta)
      return await encoded(plain, coding)
    }
    return {
      etag,
      headers: { ...rankingsHeaders(to.manifest, { table, window: to.manifest }), etag },
      contentHeaders: {
        'content-type': CONTENT_TYPE_OF[format],
        ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
      },
      body: () => bodies.find(etag, () => inTurn(compute)),
    }
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
  }
}
