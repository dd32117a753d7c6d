import type { Transaction } from 'kysely'
import { type Store, StoreError } from './store.ts'
import type { Tables } from './tables.ts'

/** All there is but what requests count, in an order in which rows come after those that they refer to. */
const COPIED = [
  'api_keys',
  'presets',
  'preset_versions',
  'embeddings_models',
  'embeddings_catalogue',
  'usage_days',
  'usage',
] as const satisfies (keyof Tables)[]

export type CopiedTable = (typeof COPIED)[number]

/** What one statement takes: rows have up to fourteen columns, and a version of a preset up to 4 MiB. */
const MOST_ROWS = 1000
const MOST_CHARACTERS = 4 * 2 ** 20

/**
 * Copies everything in the SQLite store `from` into the store `to`, which must be empty, in one transaction. Meanwhile
 * nobody writes to `from`, so that nothing that was acknowledged stays behind. Returns the number of rows of each table.
 */
export async function copyStore(from: Store, to: Store): Promise<Record<CopiedTable, number>> {
  return await from.write((source) =>
    to.write(async (target) => {
      await refuseUnlessEmpty(target, to.name)
      const rows = {} as Record<CopiedTable, number>
      for (const table of COPIED) rows[table] = await copyTable(source, target, table)
      return rows
    }),
  )
}

async function refuseUnlessEmpty(target: Transaction<Tables>, name: string): Promise<void> {
  for (const table of COPIED) {
    const found = await target.selectFrom(table).selectAll().limit(1).executeTakeFirst()
    if (found !== undefined) {
      throw new StoreError(`the store ${name} is not empty: its ${table} has rows; copy into a new database`)
    }
  }
}

async function copyTable(
  source: Transaction<Tables>,
  target: Transaction<Tables>,
  table: CopiedTable,
): Promise<number> {
  let count = 0
  for await (const rows of inBatches(source.selectFrom(table).selectAll().stream(MOST_ROWS))) {
    // Rows of a table fit into the same table; TypeScript cannot tell which of them it is.
    await target
      .insertInto(table)
      .values(rows as never)
      .execute()
    count += rows.length
  }
  return count
}

async function* inBatches(rows: AsyncIterable<object>): AsyncIterable<object[]> {
  let batch: object[] = []
  let characters = 0
  for await (const row of rows) {
    batch.push(row)
    for (const value of Object.values(row)) if (typeof value === 'string') characters += value.length
    if (batch.length < MOST_ROWS && characters < MOST_CHARACTERS) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}
