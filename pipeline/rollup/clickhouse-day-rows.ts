import { z } from 'zod'
import { REJECT_REASONS } from '../raw/records.ts'
import type { Row } from './clickhouse-client.ts'
import type { DaySums } from './days.ts'

export interface DayRow extends Row {
  kind: string
  models: string[]
  records: string
  identified_records: string
  conflicting_records: string
  tokens: string
}

const RejectReason = z.enum(REJECT_REASONS)

export const NOTHING: DaySums = readDay([])

/** Reads the rows for one day. Surplus is all duplicates minus the copies that are kept. */
export function readDay(rows: readonly DayRow[]): DaySums {
  const byKind = Map.groupBy(rows, ({ kind }) => kind)
  const of = (kind: string) => byKind.get(kind) ?? []
  const kept = of('kept')
  const keptAlone = new Map(kept.filter(({ models }) => models.length === 1).map((row) => [nameOf(row), row]))
  return {
    delivered: of('delivered').map((row) => {
      return { model: nameOf(row), identified_records: BigInt(row.identified_records), ...countsOf(row) }
    }),
    surplus: of('repeated').map((row) => {
      const all = countsOf(row)
      const stays = countsOf(keptAlone.get(nameOf(row)))
      return { model: nameOf(row), records: all.records - stays.records, tokens: all.tokens - stays.tokens }
    }),
    ties: kept.filter(({ models }) => models.length > 1).map((row) => ({ models: row.models, ...countsOf(row) })),
    rejected: [...byKind]
      .filter(([kind]) => !['delivered', 'repeated', 'kept'].includes(kind))
      .flatMap(([kind, rejected]) =>
        rejected.map((row) => ({ reason: RejectReason.parse(kind), records: BigInt(row.records) })),
      ),
    conflicting_records: kept.reduce((sum, row) => sum + BigInt(row.conflicting_records), 0n),
  }
}

function nameOf({ models: [name = ''] }: DayRow): string {
  return name
}

function countsOf(row: DayRow | undefined): { records: bigint; tokens: bigint } {
  return { records: BigInt(row?.records ?? 0), tokens: BigInt(row?.tokens ?? 0) }
}
