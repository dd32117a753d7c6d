import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { PublishedDois } from '../../pipeline/contract/dois.ts'
import type { ReleaseEntry, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { DOIS_PATH, HISTORY_PATHS, INDEX_PATH } from '../../pipeline/contract/published-paths.ts'
import type { Timestamp } from '../../pipeline/contract/ranking.ts'
import { BoundedCache } from '../base/bounded-cache.ts'
import { ApiError } from '../base/errors.ts'
import { sharedFingerprint } from '../base/followed-file.ts'
import { jsonIfAny, readWhenReplaced } from '../base/json-file.ts'
import { sharing } from '../base/remembered.ts'
import type { Dataset } from './dataset.ts'
import { isWithdrawn, withdrawn } from './gone.ts'
import { followedHistory } from './history.ts'
import type { LoadHistory, LoadRelease } from './loaders.ts'
import { parseReleaseIndex } from './release.ts'

export type OlderReleases = ReturnType<typeof olderReleases>

const MOST_BYTES = 64 * 2 ** 20

/** Each takes about a second, so longer queues get a 429. */
export const MOST_LOADING = 10

/** For one caller, so that others find room in the queue. */
export const MOST_LOADING_EACH = 3

export interface Loaders {
  loadRelease: LoadRelease
  loadHistory: LoadHistory
}

export function olderReleases(
  publicDir: string,
  log: FastifyBaseLogger,
  { loadRelease, loadHistory }: Loaders,
  {
    mostBytes = MOST_BYTES,
    mostLoading = MOST_LOADING,
    mostLoadingEach = MOST_LOADING_EACH,
    onRefused = () => {},
  }: { mostBytes?: number; mostLoading?: number; mostLoadingEach?: number; onRefused?: () => void } = {},
) {
  const history = followedHistory(publicDir, log, loadHistory)
  // Keyed by entry hash, because a rebuilt dataset may reuse a name.
  const kept = new BoundedCache<Dataset>(mostBytes, ({ bytes }) => bytes)
  const searches = sharing<Dataset | undefined>()
  const loads = sharing<Dataset>()
  const indexPath = join(publicDir, INDEX_PATH)
  const index = readWhenReplaced(indexPath, (bytes) => parseReleaseIndex(bytes.toString(), indexPath).releases)
  const listed = async (): Promise<readonly ReleaseEntry[]> => (await index()) ?? []
  /** The callers of the loads in the queue. */
  const loading: (string | undefined)[] = []
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
  function loadInTurn(entry: ReleaseEntry, caller: string | undefined): Promise<Dataset> {
    const own = loading.filter((each) => each === caller).length
    if (loading.length >= mostLoading || own >= mostLoadingEach) {
      onRefused()
      // Not 503: load balancers would take the server out of service.
      throw new ApiError(429, 'Too many older releases are being read. Please try again later.')
    }
    loading.push(caller)
    const turn = lastLoad.then(() => load(entry)).finally(() => loading.splice(loading.indexOf(caller), 1))
    // The caller gets the error; the next load must still run.
    lastLoad = turn.catch(() => undefined)
    return turn
  }

  /**
   * From the history in memory, or else from the files of the release. Equal requests share the search and the load, but not
   * a refusal: each caller has a share of the queue.
   */
  async function findListed(entry: ReleaseEntry, caller: string | undefined): Promise<Dataset> {
    const inHistory = await searches(entry.hash, () => history.find(entry))
    return inHistory ?? kept.get(entry.hash) ?? (await loads(entry.hash, () => loadInTurn(entry, caller)))
  }

  /** The index may still list a release as standing, right after its tombstone was written. */
  async function firstStanding(entries: readonly ReleaseEntry[]): Promise<ReleaseName | undefined> {
    for (const { release, status } of entries) {
      if (status !== 'withdrawn' && !(await isWithdrawn(publicDir, release))) return release
    }
    return undefined
  }

  return {
    /**
     * Undefined if the index does not list the release. Throws 410 if withdrawn, 429 if too many are loading, for all or for
     * this caller.
     */
    async find(name: ReleaseName, caller?: string): Promise<Dataset | undefined> {
      const [entries, isGone] = await Promise.all([listed(), isWithdrawn(publicDir, name)])
      const entry = entries.find(({ release }) => release === name)
      if (entry === undefined) return undefined
      if (isGone) throw withdrawn(name, { releases: `/${INDEX_PATH}` })
      return await findListed(entry, caller)
    },
    /** The newest listed release at or before an instant that is not withdrawn, if any. */
    async newestAt(instant: Timestamp) {
      return await firstStanding((await listed()).filter(({ as_of }) => as_of <= instant).toReversed())
    },
    /** The first listed release that has tables of weeks and months and is not withdrawn, if any. */
    async firstWithTables() {
      return await firstStanding((await listed()).filter(({ tables }) => tables !== undefined))
    },
    /** All listed releases, oldest first; none without an index. */
    list: listed,
    /** Whether the table of all releases is published. */
    hasHistory: async () => (await sharedFingerprint(join(publicDir, HISTORY_PATHS.parquet))) !== undefined,
    /** The DOIs of deposited releases, if there are any. */
    dois: readWhenReplaced(join(publicDir, DOIS_PATH), (bytes) => PublishedDois.safeParse(jsonIfAny(bytes)).data),
    /** How many releases are being loaded or wait for it. */
    waiting: () => loading.length,
    stop: history.stop,
  }
}
