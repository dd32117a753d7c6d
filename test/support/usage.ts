/** The usage file, written and read without any code of the pipeline or the server. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256, type Workspace } from './pipeline.ts'

/** One entry of the file, with its date. */
export interface UsageRow {
  date: string
  api_key_hash: string
  is_byok: boolean
  cost_usd: string
  requests: number
  free_requests: number
}

export const HASH_A = sha256('key a')
export const HASH_B = sha256('key b')

/** An entry of one request for a dollar, unless told otherwise. */
export function usageRow(fields: Partial<UsageRow> = {}): UsageRow {
  const defaults = { date: '2025-02-09', api_key_hash: HASH_A, is_byok: false, cost_usd: '1', requests: 1 }
  return { ...defaults, free_requests: 0, ...fields }
}

/** The text of a usage file: a header, then a line for each date. */
export function usageText(rows: readonly UsageRow[], header: Record<string, unknown> = {}): string {
  const days = [...Map.groupBy(rows, ({ date }) => date)].sort(([a], [b]) => (a < b ? -1 : 1))
  const first = { version: 1, as_of: '2025-02-10T00:12:00Z', days: days.length, ...header }
  const lines = days.map(([date, ofDate]) => ({ date, usage: ofDate.map(({ date: _, ...entry }) => entry) }))
  return [first, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Puts a usage file in its place by a rename, as a build does. */
export async function writeUsageFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

/** What the last build left: the header, and the entries in the order of the file. */
export async function readUsageOf(workspace: Workspace): Promise<{ header: unknown; rows: UsageRow[] }> {
  const text = await readFile(join(workspace.dataDir, 'state/usage.ndjson'), 'utf8')
  const [header, ...days] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { header, rows: days.flatMap(({ date, usage }) => usage.map((entry: object) => ({ date, ...entry }))) }
}
