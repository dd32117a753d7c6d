/** Releases as lists of rows, the history that follows from them by hand, and folders with their Parquet files. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../pipeline/base/database.ts'
import { contentHash } from '../../pipeline/base/text.ts'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { manifestOf } from './manifest.ts'
import type { Row } from './publish.ts'

/** The rows of each table in published order. Releases of version 0.6.0 and before have the daily table alone. */
export interface Rows {
  daily: readonly Row[]
  weekly?: readonly Row[]
  monthly?: readonly Row[]
}

/** A release by its name. */
export type Told = readonly [release: string, rows: Rows]

const TABLES = ['daily', 'weekly', 'monthly'] as const

/** `history.csv` of some releases, oldest first: each row with each run of consecutive releases that have it. */
export function historyCsv(releases: readonly Told[]): string {
  const header = 'table,date,model_permaslug,total_tokens,days,position,valid_from,valid_to'
  const tables = TABLES.map((table) => {
    const holders = new Map<string, { row: PlacedRow; of: number[] }>()
    for (const [number, [, rows]] of releases.entries()) {
      for (const row of placed(rows[table] ?? [])) {
        const known = holders.get(row.text)
        if (known === undefined) holders.set(row.text, { row, of: [number] })
        else known.of.push(number)
      }
    }
    const intervals = [...holders.values()].flatMap(({ row, of }) => runsOf(of).map((run) => ({ ...row, ...run })))
    return intervals
      .sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : a.first - b.first || a.position - b.position))
      .map(({ text, first, next }) => `${table},${text},${releases[first]?.[0]},${releases[next]?.[0] ?? ''}\n`)
  })
  return [`${header}\n`, ...tables.flat()].join('')
}

interface PlacedRow {
  date: string
  position: number
  text: string
}

/** Each row with its place among those of its date. */
function placed(rows: readonly Row[]): PlacedRow[] {
  return rows.map((row, line) => {
    const { date, model_permaslug: model, total_tokens, days = '' } = row
    const position = rows.slice(0, line + 1).filter((other) => other.date === date).length
    const quoted = /[",\r\n]/.test(model) ? `"${model.replaceAll('"', '""')}"` : model
    return { date, position, text: [date, quoted, total_tokens, days, position].join() }
  })
}

/** The runs of consecutive numbers: the first of each, and the one after its last. */
function runsOf(numbers: readonly number[]): { first: number; next: number }[] {
  const firsts = numbers.filter((number) => !numbers.includes(number - 1))
  const lasts = numbers.filter((number) => !numbers.includes(number + 1))
  return firsts.map((first, run) => ({ first, next: (lasts[run] ?? first) + 1 }))
}

/** Writes the Parquet files and the manifest of a release. */
export async function writeRelease(database: Database, folder: string, [release, rows]: Told): Promise<Manifest> {
  await mkdir(folder, { recursive: true })
  for (const table of TABLES) {
    const own = rows[table]
    if (own === undefined) continue
    const [path, lines] = [join(folder, `rankings-${table}.parquet`), join(folder, 'lines.ndjson')]
    await writeFile(lines, own.map((row, line) => `${JSON.stringify({ line, ...row })}\n`).join(''))
    const days = table === 'daily' ? '' : ", days: 'INTEGER'"
    const columns = `{line: 'INTEGER', date: 'DATE', model_permaslug: 'VARCHAR', total_tokens: 'BIGINT'${days}}`
    const select = `SELECT * EXCLUDE line FROM read_ndjson('${lines}', columns = ${columns}) ORDER BY line`
    await database.execute(`COPY (${select}) TO $path (FORMAT parquet)`, { path })
  }
  const as_of = release.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z')
  const { tables, ...whole } = manifestOf({ release, as_of, content_hash: contentHash(rows.daily) })
  const manifest = rows.weekly === undefined ? whole : { ...whole, ...(tables && { tables }) }
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
  return manifest
}
