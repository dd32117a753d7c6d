import { parentPort, workerData } from 'node:worker_threads'
import { giveWay, type HistoryOrder, type ReleaseOrder } from './loaders.ts'

const order: ReleaseOrder | HistoryOrder = workerData
// What is first loads at full speed: answers wait for it.
if (!order.isFirst) giveWay()
const parts =
  'path' in order
    ? (await import('./prepared-history.ts')).prepareHistory(order)
    : (await import('./prepared-release.ts')).prepareRelease(order)
for await (const part of parts) {
  parentPort?.postMessage(part)
  giveWay()
}
