import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { DATASET_PATH, type ReleaseEntry, type ReleaseName } from '../../pipeline/contract/manifest.ts'
import { BoundedCache } from '../base/bounded-cache.ts'
import { ApiError } from '../base/errors.ts'
import { fingerprint } from '../base/followed-file.ts'
import type { Dataset } from './dataset.ts'
import { parseReleaseIndex } from './release.ts'
import type { LoadRelease } from './release-loader.ts'
import { isWithdrawn, withdrawn } from './tombstone.ts'

export interface OlderReleases {
  /** Undefined if the index does not list the release. Throws 410 if withdrawn, 429 if too many are loading. */
  find(name: ReleaseName): Promise<Dataset | undefined>
}

const MOST_BYTES = 64 * 2 ** 20

/** Each takes about a second, so longer queues get a 429. */
const MOST_LOADING = 10

export function olderReleases(
  publicDir: string,
  log: FastifyBaseLogger,
  loadRelease: LoadRelease,
  { mostBytes = MOST_BYTES, mostLoading = MOST_LOADING } = {},
): OlderReleases {
  // Keyed by entry hash, because a rebuilt dataset may reuse a name.
  const kept = new BoundedCache<Dataset>(mostBytes, ({ bytes }) => bytes)
  const loading = new Map<string, Promise<Dataset>>()
  const entryOf = listedReleases(publicDir)
  let lastLoad: Promise<unknown> = Promise.resolve()

  async function load(entry: ReleaseEntry): Promise<Dataset> {
    const started = performance.now()
    const { plain, whole } = loadRelease({ publicDir, entry })
    const dataset = await plain
    kept.set(entry.hash, dataset)
    const elapsed_ms = Math.round(performance.now() - started)
    log.info({ release: entry.release, bytes: dataset.bytes, elapsed_ms }, 'older release loaded')
    // Answer without gzip until it is ready.
    whole.then(
      (complete) => {
        if (kept.get(entry.hash) === dataset) kept.set(entry.hash, complete)
      },
      (error: unknown) => log.error({ err: error, release: entry.release }, 'the release has no gzip'),
    )
    return dataset
  }

  /** One at a time: loading takes many times the release's size in memory. */
  function loadInTurn(entry: ReleaseEntry): Promise<Dataset> {
    if (loading.size >= mostLoading) {
      // Not 503: load balancers would take the server out of service.
      throw new ApiError(429, 'Too many older releases are being read. Please try again later.')
    }
    const turn = lastLoad.then(() => load(entry)).finally(() => loading.delete(entry.hash))
    loading.set(entry.hash, turn)
    // The caller gets the error; the next load must still run.
    lastLoad = turn.catch(() => undefined)
    return turn
  }

  return {
    async find(name) {
      const entry = await entryOf(name)
      if (entry === undefined) return undefined
      if (await isWithdrawn(publicDir, name)) throw withdrawn(name)
      return kept.get(entry.hash) ?? (await (loading.get(entry.hash) ?? loadInTurn(entry)))
    },
  }
}

function listedReleases(publicDir: string) {
  const path = join(publicDir, DATASET_PATH, 'releases', 'index.json')
  let seen: { stamp: string; entries: Promise<Map<ReleaseName, ReleaseEntry>> } | undefined

  async function read(): Promise<Map<ReleaseName, ReleaseEntry>> {
    const { releases } = parseReleaseIndex(await readFile(path, 'utf8'), path)
    return new Map(releases.map((entry) => [entry.release, entry]))
  }

  return async (name: ReleaseName): Promise<ReleaseEntry | undefined> => {
    const stamp = await fingerprint(path)
    if (stamp === undefined) return undefined
    if (seen?.stamp !== stamp) seen = { stamp, entries: read() }
    const current = seen
    try {
      return (await current.entries).get(name)
    } catch (error) {
      if (seen === current) seen = undefined
      throw error
    }
  }
}
