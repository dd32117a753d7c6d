import { tmpdir } from 'node:os'
import { onTestFinished } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'

/** A database in memory. Who asks for it closes it. */
export function openMemory({ threads = 2, signal = new AbortController().signal } = {}): Promise<Database> {
  return Database.open({ path: ':memory:', temporaryFolder: tmpdir(), memoryLimit: undefined, threads, signal })
}

/** A database in memory, closed when the running test is over. */
export async function memoryDatabase(): Promise<Database> {
  const database = await openMemory()
  onTestFinished(() => database.close())
  return database
}
