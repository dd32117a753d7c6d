import { z } from 'zod'
import { REJECT_REASONS } from '../raw/records.ts'
import type { Row } from './clickhouse-client.ts'
import type { DaySums } from './days.ts'

export interface DayRow extends Row {
  kind: string
  models: string[]
  contributor: string
  records: string
  identified_records: string
  conflicting_records: string
  tokens: string
}

const RejectReason = z.enum(REJECT_REASONS)

export const NOTHING: DaySums = readDay([])

/** Reads the rows for one day. Surplus is all duplicates, and with negative counts the copies that are kept. */
export function readDay(rows: readonly DayRow[]): DaySums {
  const byKind = Map.groupBy(rows, ({ kind }) => kind)
  const of = (kind: string) => byKind.get(kind) ?? []
  const kept = of('kept')
  return {
    delivered: of('delivered').map((row) => ({ ...usageOf(row), identified_records: BigInt(row.identified_records) })),
    surplus: [
      ...of('repeated').map(usageOf),
      ...kept
        .filter(({ models }) => models.length === 1)
        .map(usageOf)
        .map(({ records, tokens, ...of }) => ({ ...of, records: -records, tokens: -tokens })),
    ],
    ties: kept.filter(({ models }) => models.length > 1).map((row) => ({ models: row.models, ...countsOf(row) })),
    rejected: [...byKind]
      .filter(([kind]) => !['delivered', 'repeated', 'kept'].includes(kind))
      .flatMap(([kind, rejected]) =>
        rejected.map((row) => ({ reason: RejectReason.parse(kind), records: BigInt(row.records) })),
      ),
    conflicting_records: kept.reduce((sum, row) => sum + BigInt(row.conflicting_records), 0n),
  }
}

function usageOf(row: DayRow): DaySums['surplus'][number] {
  const { models, contributor } = row
  return { model: models[0] ?? '', contributor: contributor === '' ? null : contributor, ...countsOf(row) }
}

function countsOf({ records, tokens }: DayRow): { records: bigint; tokens: bigint } {
  return { records: BigInt(records), tokens: BigInt(tokens) }
}
