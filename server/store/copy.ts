import type { Transaction } from 'kysely'
import { type Store, StoreError } from './store.ts'
import type { Tables } from './tables.ts'

/** All tables except rate limits, referenced rows first. */
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

const MOST_ROWS = 1000
const MOST_CHARACTERS = 4 * 2 ** 20

/**
 * Copies the SQLite store `from` to the empty store `to` in one transaction and locks `from` meanwhile, so that no
 * acknowledged write is lost. Returns the number of rows per table.
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
    // The rows fit, but TypeScript does not know which table it is.
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
