import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { historyCsv, type Rows } from './history-table.ts'
import { FOLDER } from './publish.ts'

/** Writes `history.csv.gz` of the releases that `publish` made and that were not withdrawn, from their rows. */
export async function writeHistory(publicDir: string, spoil = (csv: string) => csv): Promise<void> {
  const folder = join(publicDir, FOLDER, 'releases')
  const names = (await readdir(folder)).filter((name) => name !== 'index.json').sort()
  const told = await Promise.all(names.map(async (name) => [name, await rowsIn(join(folder, name))] as const))
  const csv = historyCsv(told.filter(([, { daily }]) => daily.length > 0))
  await writeFile(join(publicDir, FOLDER, 'history.csv.gz'), gzipSync(spoil(csv)))
}

/** The tables of a release. A withdrawn one has none. */
async function rowsIn(folder: string): Promise<Rows> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ndjson.gz'))
  const read = async (name: string) => {
    const ndjson = gunzipSync(await readFile(join(folder, name))).toString()
    return [
      name.replace(/^rankings-|\.ndjson\.gz$/g, ''),
      JSON.parse(`[${ndjson.trimEnd().replaceAll('}\n{', '},{')}]`),
    ]
  }
  return { daily: [], ...Object.fromEntries(await Promise.all(files.map(read))) }
}
