import { hash } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDataFile } from '../../pipeline/contract/release-files.ts'
import { FOLDER } from './publish.ts'

/**
 * Writes `releases/index.json` for the releases that `publish` made, each chained to the one before. Those without data
 * files are dropped.
 */
export async function writeIndex(publicDir: string): Promise<void> {
  const folder = join(publicDir, FOLDER, 'releases')
  const names = (await readdir(folder)).filter((name) => name !== 'index.json').sort()
  const releases: object[] = []
  let previous: string | null = null
  type Facts = Record<string, unknown>
  for (const name of names) {
    const manifest = await readFile(join(folder, name, 'manifest.json'), 'utf8')
    const { release, as_of, start_date, end_date, rows, content_hash, data_version, tables } = JSON.parse(manifest)
    const about = { release, as_of, start_date, end_date, rows, content_hash, path: `releases/${name}/` }
    const hashes = tables && { weekly: tables.weekly.content_hash, monthly: tables.monthly.content_hash }
    const facts: Facts = { ...about, manifest_sha256: hash('sha256', manifest), data_version, tables: hashes, previous }
    previous = hash('sha256', JSON.stringify(facts))
    const isDropped = !(await readdir(join(folder, name))).includes('rankings-daily.ndjson.gz')
    const status = name === names.at(-1) ? 'current' : 'superseded'
    releases.push({ ...facts, hash: previous, status, ...(isDropped && { dropped: true }) })
  }
  await writeFile(join(folder, 'index.json.new'), JSON.stringify({ dataset: 'rankings-daily', releases }))
  await rename(join(folder, 'index.json.new'), join(folder, 'index.json'))
}

/** Puts a tombstone in the place of a release's files. */
export async function withdraw(publicDir: string, release: string): Promise<void> {
  const folder = join(publicDir, FOLDER, 'releases', release)
  for (const name of await readdir(folder)) await rm(join(folder, name))
  await writeFile(join(folder, 'TOMBSTONE.json'), JSON.stringify({ release, reason: 'it was wrong' }))
}

/** Takes the data files of a release. */
export async function drop(publicDir: string, release: string): Promise<void> {
  const folder = join(publicDir, FOLDER, 'releases', release)
  for (const name of (await readdir(folder)).filter(isDataFile)) await rm(join(folder, name))
}
