import { type Dataset, datasetOf } from '../../server/published/dataset.ts'
import type { LoadHistory } from '../../server/published/history-loader.ts'
import { readVersions } from '../../server/published/history-versions.ts'
import { compressHistory, serialiseHistory } from '../../server/published/prepared-history.ts'
import { compressRelease, prepareDaily, prepareRest } from '../../server/published/prepared-release.ts'
import { readCurrentRelease, readListedRelease } from '../../server/published/release.ts'
import type { LoadRelease } from '../../server/published/release-loader.ts'

/** Loads a release in the thread of the test: starting one takes longer than a small release. */
export const loadReleaseHere: LoadRelease = ({ publicDir, entry, isFirst }) => {
  const reading = entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry)
  const daily = reading.then(prepareDaily)
  const complete = daily.then(async (prepared) => prepareRest(prepared, await reading))
  const plain = (isFirst === true ? daily : complete).then(datasetOf)
  const whole = complete.then((prepared) => datasetOf(compressRelease(prepared)))
  whole.catch(() => undefined)
  plain.catch(() => undefined)
  return { plain, whole }
}

/** Loads the history in the thread of the test. */
export const loadHistoryHere: LoadHistory = ({ path }) => {
  const plain = readVersions(path).then(serialiseHistory)
  const whole = plain.then(compressHistory)
  whole.catch(() => undefined)
  return { plain, whole }
}

/** The current release with all it has, and with gzip. */
export async function loadCurrent(publicDir: string): Promise<Dataset> {
  return await loadReleaseHere({ publicDir }).whole
}
