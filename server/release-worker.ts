import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { compressRelease, serialiseRelease } from './dataset.ts'
import { type LoadOrder, readRelease } from './release-loader.ts'

/** Where answers and this thread have to share a core, answers go first: it is among the last that get a turn. */
const NICE = 10

// On Linux this is of the thread alone; elsewhere it would slow down the whole server.
if (process.platform === 'linux') setPriority(NICE)

const serialised = serialiseRelease(await readRelease(workerData as LoadOrder))
parentPort?.postMessage(serialised)
parentPort?.postMessage({ ...serialised, gzip: compressRelease(serialised) })
