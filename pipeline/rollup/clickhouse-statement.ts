import { z } from 'zod'
import { readStatement } from '../base/statements.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { type ClickHouseChoice, ClickHouseName } from '../raw/engine.ts'

/** The statement of the nodes to query: one per shard, or the single server. */
export function nodesOf({ cluster }: Pick<ClickHouseChoice, 'cluster'>): StatementValues {
  return cluster === undefined ? { nodes: 'clickhouse/one_node' } : { nodes: 'clickhouse/all_nodes', cluster }
}

export type StatementValues = Readonly<Record<string, string | number>>

const MARK = /\{(\w+):(\w+)\}/g

const QueryId = z.uuid()
const Count = z.int().nonnegative()

const WRITTEN: Record<string, (value: string | number, values: StatementValues) => string> = {
  Identifier: (value) => `\`${ClickHouseName.parse(value)}\``,
  String: (value) => `'${ClickHouseName.or(QueryId).parse(value)}'`,
  Date: (value) => `toDate('${UtcDate.parse(value)}')`,
  UInt64: (value) => `${Count.parse(value)}`,
  Statement: (value, values) => renderStatement(String(value), values),
}

/** Fills the placeholders of a statement. ClickHouse 18.16 has no parameters, so each value must match a pattern. */
export function renderStatement(name: string, values: StatementValues): string {
  const text = readStatement(name)
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
    .trim()
  return text.replace(MARK, (mark, key: string, type: string) => {
    const [value, write] = [values[key], WRITTEN[type]]
    if (value === undefined || write === undefined)
      throw new Error(`${name} has the mark ${mark}, for which there is nothing`)
    return write(value, values)
  })
}
