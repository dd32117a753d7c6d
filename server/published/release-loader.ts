import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { fingerprint } from '../base/followed-file.ts'
import type { Dataset, PreparedRelease } from './dataset.ts'
import { pointerPath } from './pointer.ts'
import { type Preparing, prepareInThread } from './thread.ts'

export interface LoadOrder {
  publicDir: string
  entry?: ReleaseEntry | undefined
  stamp?: string | undefined
  isFirst?: boolean
}

/** Loads a release. Of the first one of a server, `plain` is the daily table alone. */
export type LoadRelease = (order: LoadOrder) => Preparing<Dataset>

let ahead: { publicDir: string; stamp: string | undefined; loading: Preparing<Dataset> } | undefined

/** Loads the current release while the server's modules load. Used if the pointer is unchanged by then. */
export async function loadAhead(publicDir: string): Promise<void> {
  // Taken before reading, so that a pointer switched meanwhile is noticed.
  const stamp = await fingerprint(pointerPath(publicDir))
  ahead = { publicDir, stamp, loading: loadInThread({ publicDir, isFirst: true }) }
}

/** Loads a release in its own thread: two years take about a second. */
export const loadRelease: LoadRelease = (order) => {
  if (order.entry !== undefined) return loadInThread(order)
  const begun = ahead
  ahead = undefined
  const isThis = begun?.publicDir === order.publicDir && begun.stamp === order.stamp
  return isThis ? begun.loading : loadInThread(order)
}

function loadInThread(order: LoadOrder): Preparing<Dataset> {
  return prepareInThread(new URL('./release-worker.ts', import.meta.url), order, toDataset)
}

/** Loads what it needs when the thread has begun, so that the thread begins at once. */
async function toDataset(prepared: PreparedRelease): Promise<Dataset> {
  const { datasetOf } = await import('./dataset.ts')
  return datasetOf(prepared)
}
