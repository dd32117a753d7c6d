import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { compressRelease, serialiseRelease } from './dataset.ts'
import { readCurrentRelease, readListedRelease } from './release.ts'
import type { LoadOrder } from './release-loader.ts'

/** Where answers and this thread have to share a core, answers go first: it is among the last that get a turn. */
const NICE = 10

const { publicDir, entry, isFirst }: LoadOrder = workerData
// Nobody is answered before the first release is there. Elsewhere than on Linux this would slow down the whole server.
if (!isFirst && process.platform === 'linux') setPriority(NICE)
const release = await (entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry))
const serialised = serialiseRelease(release)
parentPort?.postMessage(serialised)
if (process.platform === 'linux') setPriority(NICE)
parentPort?.postMessage({ ...serialised, gzip: compressRelease(serialised) })
