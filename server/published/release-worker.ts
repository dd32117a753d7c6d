import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { compressRelease, prepareDaily, prepareRest } from './prepared-release.ts'
import { readCurrentRelease, readListedRelease } from './release.ts'
import type { LoadOrder } from './release-loader.ts'

const NICE = 10

const { publicDir, entry, isFirst }: LoadOrder = workerData
// The daily table of the first release loads at full speed: answers wait for it. Linux only: elsewhere this slows the
// whole server.
const makeWay = () => process.platform === 'linux' && setPriority(NICE)
if (!isFirst) makeWay()
const release = await (entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry))
const daily = await prepareDaily(release)
if (isFirst) parentPort?.postMessage(daily)
makeWay()
const complete = await prepareRest(daily, release)
if (!isFirst) parentPort?.postMessage(complete)
parentPort?.postMessage(compressRelease(complete))
