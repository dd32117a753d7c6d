import { compressRelease, datasetOf, serialiseRelease } from '../../server/published/dataset.ts'
import { readCurrentRelease, readListedRelease } from '../../server/published/release.ts'
import type { LoadRelease } from '../../server/published/release-loader.ts'

/** Loads a release in the thread of the test: starting one takes longer than a small release. */
export const loadReleaseHere: LoadRelease = ({ publicDir, entry }) => {
  const release = entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry)
  const prepared = release.then(serialiseRelease)
  const plain = prepared.then(datasetOf)
  const whole = prepared.then((serialised) => datasetOf({ ...serialised, gzip: compressRelease(serialised) }))
  whole.catch(() => undefined)
  plain.catch(() => undefined)
  return { plain, whole }
}
