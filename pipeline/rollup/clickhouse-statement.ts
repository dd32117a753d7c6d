import { z } from 'zod'
import { readStatement } from '../base/statements.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { type ClickHouseChoice, ClickHouseName } from '../raw/engine.ts'

/** The statement of the nodes that are asked: one of every shard, or the server alone. */
export function nodesOf({ cluster }: Pick<ClickHouseChoice, 'cluster'>): StatementValues {
  return cluster === undefined ? { nodes: 'clickhouse/one_node' } : { nodes: 'clickhouse/all_nodes', cluster }
}

/** What stands in for the marks of a statement, such as `{date:Date}`. */
export type StatementValues = Readonly<Record<string, string | number>>

/** A mark as ClickHouse writes its parameters: name and type. */
const MARK = /\{(\w+):(\w+)\}/g

const QueryId = z.uuid()
const Count = z.int().nonnegative()

/** How a value of each type is written, once it is proved to be nothing but that. */
const WRITTEN: Record<string, (value: string | number, values: StatementValues) => string> = {
  Identifier: (value) => `\`${ClickHouseName.parse(value)}\``,
  String: (value) => `'${ClickHouseName.or(QueryId).parse(value)}'`,
  Date: (value) => `toDate('${UtcDate.parse(value)}')`,
  UInt64: (value) => `${Count.parse(value)}`,
  Statement: (value, values) => renderStatement(String(value), values),
}

/**
 * The named statement for ClickHouse with its marks filled in: the one place where values get into it.
 * They have the form of ClickHouse's own query parameters, which 18.16 does not know, and which have no names of clusters.
 * Every value has to match a strict pattern; a mark of type Statement is another statement, in parentheses or as it is.
 */
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
