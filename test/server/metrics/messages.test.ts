import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { Family } from '../../../server/metrics/families.ts'
import { type Channel, metricsOfWorkers, metricsThrough } from '../../../server/metrics/messages.ts'

/** Two ends of a channel, as it is between processes: what is sent is copied. */
function channels(): { first: Channel; worker: Channel } {
  const [toFirst, toWorker] = [new EventEmitter(), new EventEmitter()]
  const end = (out: EventEmitter, back: EventEmitter): Channel => ({
    send: (message) => void out.emit('message', structuredClone(message)),
    onMessage: (listener) => void back.on('message', listener),
  })
  return { first: end(toWorker, toFirst), worker: end(toFirst, toWorker) }
}

const requests = (value: number): Family[] => [
  { name: 'requests', help: '', type: 'counter', across: 'sum', samples: [['requests', value]] },
]

const never = () => new Promise<void>(() => {})

test('each worker gets the metrics of all, and of the first process', async () => {
  const all = metricsOfWorkers(never)
  const workers = [3, 4].map((value) => {
    const { first, worker } = channels()
    return { collect: metricsThrough(worker, async () => requests(value)), remove: all.add(first) }
  })
  for (const { collect } of workers) {
    const families = await collect()
    expect(families.find(({ name }) => name === 'requests')?.samples).toEqual([['requests', 7]])
    expect(families.map(({ name }) => name)).toContain('process_resident_memory_bytes')
  }
  workers[1]?.remove()
  const [counted] = (await workers[0]?.collect())?.filter(({ name }) => name === 'requests') ?? []
  expect(counted?.samples).toEqual([['requests', 7]])
})

test('other messages are left alone', async () => {
  const all = metricsOfWorkers(never)
  const { first, worker } = channels()
  all.add(first)
  const collect = metricsThrough(worker, async () => requests(1))
  for (const message of ['stop', null, 5, { act: 'listening' }]) {
    for (const { send } of [first, worker]) send(message as never)
  }
  expect((await collect()).map(({ name }) => name)).toContain('requests')
})
