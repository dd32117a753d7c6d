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

/** Releases by name, read when they are asked for; a few stay in memory. */
export interface OlderReleases {
  /** Undefined when the index does not list the release. Throws 410 if withdrawn, 429 if too many are loading. */
  find(name: ReleaseName): Promise<Dataset | undefined>
}

/** Some releases of two years, each in three forms and as gzip. */
const MOST_BYTES = 64 * 2 ** 20

/** Each takes a second or so: whoever had to wait for more of them is asked to come again. */
const MOST_LOADING = 10

export function olderReleases(
  publicDir: string,
  log: FastifyBaseLogger,
  loadRelease: LoadRelease,
  { mostBytes = MOST_BYTES, mostLoading = MOST_LOADING } = {},
): OlderReleases {
  // By the hash of the entry, because a dataset that was rebuilt from nothing may use a name again.
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
    // Whoever asked is answered plainly; the gzip of it follows.
    whole.then(
      (complete) => {
        if (kept.get(entry.hash) === dataset) kept.set(entry.hash, complete)
      },
      (error: unknown) => log.error({ err: error, release: entry.release }, 'the release has no gzip'),
    )
    return dataset
  }

  /** One release after the other: each takes many times its bytes while it is read. */
  function loadInTurn(entry: ReleaseEntry): Promise<Dataset> {
    if (loading.size >= mostLoading) {
      // Not 503: balancers take a server that answers 503 for one that is down, and send nobody there for a while.
      throw new ApiError(429, 'Too many older releases are being read. Please try again later.')
    }
    const turn = lastLoad.then(() => load(entry)).finally(() => loading.delete(entry.hash))
    loading.set(entry.hash, turn)
    // Whoever asked learns of a failure; the next in turn has nothing to do with it.
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

/** Looks up releases in the index, which is read again when it was replaced. */
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
