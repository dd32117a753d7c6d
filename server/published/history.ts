import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { HISTORY_PATHS } from '../../pipeline/contract/published-paths.ts'
import { type Table, tableFacts, tablesIn } from '../../pipeline/contract/tables.ts'
import { BoundedCache } from '../base/bounded-cache.ts'
import { followFile } from '../base/followed-file.ts'
import { type Dataset, datasetOf } from './dataset.ts'
import type { LoadHistory } from './loaders.ts'
import { type PreparedHistory, tableAt } from './prepared-history.ts'
import { bytesOfObjects, type PreparedTable } from './prepared-table.ts'
import { type Release, readAuthors, readListedRelease } from './release.ts'

const MOST_BYTES = 64 * 2 ** 20

/** The rows of all releases are in memory once. What is kept of a release is its description and parsed rows. */
export function historyOf(prepared: PreparedHistory, publicDir: string, log: FastifyBaseLogger) {
  // Keyed by entry hash, because a rebuilt dataset may reuse a name.
  const kept = new BoundedCache<Dataset>(MOST_BYTES, ({ bytes }) => bytes)
  const isVerified = new Map<string, boolean>()

  return {
    /**
     * The release of an entry of the index; undefined if the history does not have it, with the content hash of each of its
     * tables. Throws `ReleaseError` if its manifest is not the listed one.
     */
    async find(entry: ReleaseEntry): Promise<Dataset | undefined> {
      const known = kept.get(entry.hash)
      if (known !== undefined || isVerified.get(entry.hash) === false) return known
      const release = await readListedRelease(publicDir, entry)
      const dataset = await datasetAt(prepared, release)
      if (!isVerified.has(entry.hash)) isVerified.set(entry.hash, hasItsHashes(dataset))
      if (isVerified.get(entry.hash) === false) {
        log.warn({ release: entry.release }, 'the history does not have the rows of the release')
        return undefined
      }
      kept.set(entry.hash, dataset)
      return dataset
    },
  }
}

async function datasetAt(history: PreparedHistory, release: Release): Promise<Dataset> {
  const { manifest } = release
  const tables: Partial<Record<Table, PreparedTable>> = {}
  for (const table of tablesIn(manifest)) {
    const versions = history[table]
    if (versions !== undefined) tables[table] = tableAt(versions, manifest.release)
  }
  const dataset = datasetOf({ manifest, tables, authors: await readAuthors(release), isComplete: true })
  return { ...dataset, bytes: Object.values(tables).reduce((sum, table) => sum + bytesOfObjects(table), 0) }
}

function hasItsHashes(dataset: Dataset): boolean {
  const { manifest } = dataset
  return tablesIn(manifest).every((table) => {
    if (!dataset.has(table)) return false
    const canonicalCsv = createHash('sha256')
    const dates = dataset.dates(table)
    const all = { start_date: dates[0] ?? '', end_date: dates.at(-1) ?? '' }
    for (const piece of dataset.answer(table, all, 'csv').pieces) canonicalCsv.update(piece)
    return `sha256:${canonicalCsv.digest('hex')}` === tableFacts(manifest, table)?.content_hash
  })
}

/** The history of `PUBLIC_DIR`, loaded when it is first asked for, and followed from then on. There need not be one. */
export function followedHistory(publicDir: string, log: FastifyBaseLogger, load: LoadHistory) {
  const path = join(publicDir, HISTORY_PATHS.csv)
  let current: ReturnType<typeof historyOf> | undefined
  let firstLook: Promise<void> | undefined

  async function loadAgain(): Promise<void> {
    const started = performance.now()
    const isFirst = current === undefined
    const { plain, whole } = load({ path, isFirst })
    const open = (prepared: PreparedHistory) => {
      current = historyOf(prepared, publicDir, log)
      return current
    }
    const first = open(await (isFirst ? plain : whole))
    log.info({ elapsed_ms: Math.round(performance.now() - started) }, 'history loaded')
    if (!isFirst) return
    // Answer without gzip until it is ready.
    whole.then(
      (complete) => {
        if (current === first) open(complete)
      },
      (error: unknown) => log.error({ err: error }, 'the history has no gzip'),
    )
  }

  const file = followFile({
    path,
    load: loadAgain,
    onRefused: (error) => log.error({ err: error }, 'the history is refused'),
    log,
  })

  async function find(entry: ReleaseEntry): Promise<Dataset | undefined> {
    firstLook ??= file.look().then(file.follow)
    await firstLook
    const found = await current?.find(entry)
    if (found !== undefined || !entry.dropped) return found
    // The file may have been replaced within the last second.
    await file.look()
    return await current?.find(entry)
  }

  return { find, stop: file.stop }
}
