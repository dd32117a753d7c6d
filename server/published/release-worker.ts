import { parentPort, workerData } from 'node:worker_threads'
import { compressRelease, prepareDaily, prepareRest } from './prepared-release.ts'
import { readCurrentRelease, readListedRelease } from './release.ts'
import type { LoadOrder } from './release-loader.ts'
import { giveWay } from './thread.ts'

const { publicDir, entry, isFirst }: LoadOrder = workerData
// The daily table of the first release loads at full speed: answers wait for it.
if (!isFirst) giveWay()
const release = await (entry === undefined ? readCurrentRelease(publicDir) : readListedRelease(publicDir, entry))
const daily = await prepareDaily(release)
if (isFirst) parentPort?.postMessage(daily)
giveWay()
const complete = await prepareRest(daily, release)
if (!isFirst) parentPort?.postMessage(complete)
parentPort?.postMessage(compressRelease(complete))
