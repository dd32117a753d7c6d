import { expect, test } from 'vitest'
import { Collection } from '../../../server/metrics/collection.ts'
import type { Family } from '../../../server/metrics/families.ts'

/** A worker that answers only when it is told to. */
function worker() {
  return {
    asked: 0,
    ask() {
      this.asked++
    },
  }
}

const numbers = (requests: number, connections: number): Family[] => [
  { name: 'requests', help: '', type: 'counter', across: 'sum', samples: [['requests', requests]] },
  { name: 'connections', help: '', type: 'gauge', across: 'sum', samples: [['connections', connections]] },
]

const valuesOf = (families: Family[]) => Object.fromEntries(families.flatMap(({ samples }) => samples))

function collection() {
  const waits: (() => void)[] = []
  const workers = [worker(), worker()] as const
  const all = new Collection<ReturnType<typeof worker>>(() => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waits.push(resolve)
    return promise
  })
  for (const each of workers) all.add(each)
  const collect = async (...answers: [ReturnType<typeof worker>, Family[]][]) => {
    const collecting = all.collect()
    for (const [from, families] of answers) all.receive(from, families)
    // As if the time were over. What has arrived by then counts.
    waits.at(-1)?.()
    return valuesOf(await collecting)
  }
  return { all, workers, collect }
}

test('sums the numbers of all workers', async () => {
  const { workers, collect } = collection()
  const [first, second] = workers
  expect(await collect([first, numbers(3, 1)], [second, numbers(4, 2)])).toEqual({ requests: 7, connections: 3 })
})

test('asks each worker once for two scrapes at a time', async () => {
  const { all, workers } = collection()
  const both = [all.collect(), all.collect()]
  for (const each of workers) all.receive(each, numbers(1, 1))
  expect((await Promise.all(both)).map(valuesOf)).toEqual(Array(2).fill({ requests: 2, connections: 2 }))
  expect(workers.map(({ asked }) => asked)).toEqual([1, 1])
})

test('takes the last numbers of a worker that does not answer in time, and those that come too late the next time', async () => {
  const { all, workers, collect } = collection()
  const [first, second] = workers
  await collect([first, numbers(3, 1)], [second, numbers(4, 2)])
  expect(await collect([first, numbers(5, 1)])).toEqual({ requests: 9, connections: 3 })
  all.receive(second, numbers(8, 1))
  expect(await collect([first, numbers(5, 1)])).toEqual({ requests: 13, connections: 2 })
})

test('keeps what a worker counted that died, and not its connections', async () => {
  const { all, workers, collect } = collection()
  const [first, second] = workers
  await collect([first, numbers(3, 1)], [second, numbers(4, 2)])
  all.remove(second)
  all.receive(second, numbers(100, 100))
  const third = worker()
  all.add(third)
  expect(await collect([first, numbers(3, 1)], [third, numbers(1, 1)])).toEqual({ requests: 8, connections: 2 })
  all.remove(third)
  all.remove(third)
  expect(await collect([first, numbers(3, 1)])).toEqual({ requests: 8, connections: 1 })
})

test('does not wait for a worker that dies meanwhile', async () => {
  const { all, workers } = collection()
  const [first, second] = workers
  const collecting = all.collect()
  all.receive(first, numbers(3, 1))
  all.remove(second)
  expect(valuesOf(await collecting)).toEqual({ requests: 3, connections: 1 })
})

test('has nothing to wait for without workers', async () => {
  expect(await new Collection().collect()).toEqual([])
})
