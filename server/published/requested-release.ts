import type { ReleaseName } from '../../pipeline/contract/manifest.ts'
import { INDEX_PATH } from '../../pipeline/contract/published-paths.ts'
import { type Timestamp, toTimestamp } from '../../pipeline/contract/ranking.ts'
import type { Table } from '../../pipeline/contract/tables.ts'
import { ApiError } from '../base/errors.ts'
import type { CurrentRelease } from './current-release.ts'
import type { Dataset } from './dataset.ts'
import type { OlderReleases } from './older-releases.ts'

/** A release by its name, or an ISO 8601 instant in UTC for the newest at or before it. By default the current one. */
export type RequestedRelease = string | undefined

/** What a request needs of a release. */
export interface Needs {
  table: Table
  /** Also its authors. */
  authors?: boolean
  /** Who asks. Each caller has a share of the queue for older releases. */
  caller?: string
}

/**
 * Finds the release of a request. Not a promise if the release is in memory: a promise costs as much as an answer.
 * Throws 404 for a release that is not there or does not have the table, 410 for a withdrawn one, 503 without any.
 */
export type FindRelease = (requested: RequestedRelease, needs: Needs) => Dataset | Promise<Dataset>

const ALL_RELEASES = { releases: `/${INDEX_PATH}` }

export function releaseFinder(releases: CurrentRelease, older: OlderReleases): FindRelease {
  async function findCurrent(needs: Needs): Promise<Dataset> {
    const current = releases.dataset()
    const found = current !== undefined && isReady(current, needs) ? current : await releases.complete()
    if (found === undefined) throw notAvailable()
    return found
  }

  async function findNamed(name: ReleaseName, { caller }: Needs): Promise<Dataset> {
    const found = await older.find(name, caller)
    if (found === undefined) throw noRelease(name)
    return found
  }

  async function findAt(asOf: Timestamp, needs: Needs): Promise<Dataset> {
    const listed = await older.newestAt(asOf)
    const current = releases.dataset()?.manifest
    const isCurrent = current !== undefined && current.as_of <= asOf && current.release >= (listed ?? '')
    if (isCurrent) return await findCurrent(needs)
    if (listed === undefined) throw noRelease(`at or before ${asOf}`)
    return await findNamed(listed, needs)
  }

  async function find(requested: RequestedRelease, needs: Needs): Promise<Dataset> {
    if (requested?.includes('-')) return await findAt(toTimestamp(new Date(requested)), needs)
    const isCurrent = requested === undefined || requested === releases.dataset()?.manifest.release
    return isCurrent ? await findCurrent(needs) : await findNamed(requested, needs)
  }

  async function findWithTable(requested: RequestedRelease, needs: Needs): Promise<Dataset> {
    const found = await find(requested, needs)
    const { release, tables } = found.manifest
    if (needs.table === 'daily' || tables !== undefined) return found
    const first = await older.firstWithTables()
    const remedy = first === undefined ? 'no release has them yet' : `the first release that has them is ${first}`
    throw new ApiError(404, `The release ${release} has no tables of weeks and months; ${remedy}`, ALL_RELEASES)
  }

  return (requested, needs) => {
    const current = releases.dataset()
    if (requested === undefined && current === undefined) throw notAvailable()
    const isCurrent = requested === undefined || requested === current?.manifest.release
    return isCurrent && current !== undefined && isReady(current, needs) ? current : findWithTable(requested, needs)
  }
}

function isReady(dataset: Dataset, { table, authors = false }: Needs): boolean {
  return dataset.has(table) && (dataset.isComplete || !authors)
}

function notAvailable(): ApiError {
  return new ApiError(503, 'The dataset is not available yet. Please try again later.')
}

function noRelease(which: string): ApiError {
  return new ApiError(404, `There is no release ${which}; releases/index.json lists all releases`, ALL_RELEASES)
}
