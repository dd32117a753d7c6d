import { type Dataset, datasetOf } from '../../server/published/dataset.ts'
import type { LoadHistory, LoadRelease, Preparing } from '../../server/published/loaders.ts'
import { prepareHistory } from '../../server/published/prepared-history.ts'
import { prepareRelease } from '../../server/published/prepared-release.ts'

/** Loads a release in the thread of the test: starting one takes longer than a small release. */
export const loadReleaseHere: LoadRelease = (order) => inTurn(prepareRelease(order), datasetOf)

/** Loads no older release before `letGo` is called. */
export function heldLoads(): { loadRelease: LoadRelease; letGo: () => void } {
  const held = Promise.withResolvers<void>()
  const loadRelease: LoadRelease = (order) => {
    const { plain, whole } = loadReleaseHere(order)
    const isFree = order.entry === undefined ? Promise.resolve() : held.promise
    return { plain: isFree.then(() => plain), whole: isFree.then(() => whole) }
  }
  return { loadRelease, letGo: held.resolve }
}

/** Loads the history in the thread of the test. */
export const loadHistoryHere: LoadHistory = (order) => inTurn(prepareHistory(order), (history) => history)

function inTurn<M, T>(parts: AsyncGenerator<M>, toValue: (part: M) => T): Preparing<T> {
  const next = async () => toValue((await parts.next()).value)
  const plain = next()
  const whole = plain.then(next)
  whole.catch(() => undefined)
  plain.catch(() => undefined)
  return { plain, whole }
}

/** The current release with all it has, and with gzip. */
export async function loadCurrent(publicDir: string): Promise<Dataset> {
  return await loadReleaseHere({ publicDir }).whole
}
