import { parentPort, workerData } from 'node:worker_threads'
import type { HistoryOrder } from './history-loader.ts'
import { readVersions } from './history-versions.ts'
import { compressHistory, serialiseHistory } from './prepared-history.ts'
import { giveWay } from './thread.ts'

const { path, isFirst }: HistoryOrder = workerData
// The first history loads at full speed: answers wait for it.
if (!isFirst) giveWay()
const plain = serialiseHistory(await readVersions(path))
parentPort?.postMessage(plain)
giveWay()
parentPort?.postMessage(compressHistory(plain))
