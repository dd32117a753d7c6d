import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { FOLDER, type Row } from './publish.ts'

const COLUMNS = 'table,date,model_permaslug,total_tokens,days,position,valid_from,valid_to'
const TABLES = ['daily', 'weekly', 'monthly']

/**
 * Writes `history.csv.gz` of the releases that `publish` made and that were not withdrawn, from their rows. Written here
 * anew, release after release: a row that the next release does not have ends there.
 */
export async function writeHistory(publicDir: string, spoil = (csv: string) => csv): Promise<void> {
  const standing = new Map<string, string>()
  const lines: string[][] = []
  for (const release of await releasesIn(publicDir)) {
    const keys = new Set<string>()
    for (const table of TABLES) for (const key of keysOf(table, await rowsIn(publicDir, release, table))) keys.add(key)
    for (const [key, from] of standing) if (!keys.has(key) && standing.delete(key)) lines.push([key, from, release])
    for (const key of keys) if (!standing.has(key)) standing.set(key, release)
  }
  for (const [key, from] of standing) lines.push([key, from, ''])
  const order = ([key = '', from = '']: string[]) => {
    const { table, date, position } = JSON.parse(key)
    return [TABLES.indexOf(table), date, from, String(position).padStart(3, '0')].join(' ')
  }
  lines.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  const csv = [COLUMNS, ...lines.map(([key = '', from, to]) => `${csvOfKey(key)},${from},${to}`), ''].join('\n')
  await writeFile(join(publicDir, FOLDER, 'history.csv.gz'), gzipSync(spoil(csv)))
}

/** Takes away the data files of a release, as a build does that keeps few releases. */
export async function dropDataFiles(publicDir: string, release: string): Promise<void> {
  const folder = join(publicDir, FOLDER, 'releases', release)
  for (const name of await readdir(folder)) if (name.startsWith('rankings-')) await rm(join(folder, name))
}

async function releasesIn(publicDir: string): Promise<string[]> {
  const names = (await readdir(join(publicDir, FOLDER, 'releases'))).filter((name) => name !== 'index.json').sort()
  const files = await Promise.all(names.map((name) => readdir(join(publicDir, FOLDER, 'releases', name))))
  return names.filter((_, index) => !files[index]?.includes('TOMBSTONE.json'))
}

async function rowsIn(publicDir: string, release: string, table: string): Promise<Row[]> {
  const folder = join(publicDir, FOLDER, 'releases', release)
  const name = `rankings-${table}.ndjson.gz`
  if (!(await readdir(folder)).includes(name)) return []
  const ndjson = gunzipSync(await readFile(join(folder, name))).toString()
  return JSON.parse(`[${ndjson.trimEnd().replaceAll('}\n{', '},{')}]`)
}

function keysOf(table: string, rows: readonly Row[]): string[] {
  return [...Map.groupBy(rows, ({ date }) => date).values()].flatMap((ofDate) =>
    ofDate.map((row, index) => JSON.stringify({ table, ...row, position: index + 1 })),
  )
}

function csvOfKey(key: string): string {
  const { table, date, model_permaslug, total_tokens, days = '', position } = JSON.parse(key)
  const slug = /[",\n]/.test(model_permaslug) ? `"${model_permaslug.replaceAll('"', '""')}"` : model_permaslug
  return [table, date, slug, total_tokens, days, position].join(',')
}
