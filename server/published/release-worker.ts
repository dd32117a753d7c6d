import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { compressRelease, serialiseRelease } from './dataset.ts'
import { readCurrentRelease, readListedRelease } from './release.ts'
import type { LoadOrder } from './release-loader.ts'

const NICE = 10

const { publicDir, entry, isFirst }: LoadOrder = workerData
// The first release loads at full speed: answers wait for it. Linux only: elsewhere this slows the whole server.
if (!isFirst && process.platform === 'linux') setPriority(NICE)
const release = await (entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry))
const serialised = serialiseRelease(release)
parentPort?.postMessage(serialised)
if (process.platform === 'linux') setPriority(NICE)
parentPort?.postMessage({ ...serialised, gzip: compressRelease(serialised) })
