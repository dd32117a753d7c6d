import { join } from 'node:path'
import { Database } from '../../pipeline/base/database.ts'
import { setCredibleDates } from '../../pipeline/raw/credible-dates.ts'
import { usageByDay } from '../../pipeline/rollup/usage-by-day.ts'
import type { Workspace } from './pipeline.ts'

/** What the state has of each source and date: `DATE records N tokens N input N …`, without what no record has. */
export async function partsIn({ dataDir, root }: Workspace, sources: readonly string[]): Promise<string[]> {
  const { signal } = new AbortController()
  const path = join(dataDir, 'state/build.duckdb')
  const database = await Database.open({ path, temporaryFolder: join(root, 'spill'), memoryLimit: undefined, signal })
  try {
    await setCredibleDates(database, '2026-10-31')
    const lines: string[] = []
    for (const source of sources) {
      for (const { date, ...counts } of await usageByDay(database, source)) {
        const known = Object.entries(counts).filter(([, count]) => count !== null)
        lines.push([date, ...known.map(([name, count]) => `${name} ${count}`)].join(' '))
      }
    }
    return lines
  } finally {
    database.close()
  }
}
