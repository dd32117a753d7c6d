import { Collection, type Source } from './collection.ts'
import type { Family } from './families.ts'
import { Registry } from './registry.ts'
import { addProcess } from './server-metrics.ts'

/** What the first process and its workers say to each other about metrics. */
type Message =
  /** Of a worker that is asked for `/metrics`: it wants those of all. */
  | { metrics: 'wanted'; id: number }
  /** To a worker: it shall send its own. */
  | { metrics: 'asked' }
  /** Of a worker. */
  | { metrics: 'own'; families: Family[] }
  /** To the worker that wanted them. */
  | { metrics: 'all'; id: number; families: Family[] }

/** One end of the channel between two processes. Sending may fail: the other end may have died. */
export interface Channel {
  send(message: Message): void
  onMessage(listener: (message: unknown) => void): void
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'metrics' in message
}

/** In the first process: collects the metrics of its workers, and adds those of its own process. */
export function metricsOfWorkers(wait?: (signal: AbortSignal) => Promise<void>): {
  /** Returns what to call when the worker has ended. */
  add(channel: Channel): () => void
} {
  const registry = new Registry()
  addProcess(registry)
  const own: Source = {
    ask: () => void registry.collect().then((families) => all.receive(own, families)),
  }
  const all = new Collection<Source>(wait)
  all.add(own)

  return {
    add(channel) {
      const worker: Source = { ask: () => channel.send({ metrics: 'asked' }) }
      all.add(worker)
      channel.onMessage((message) => {
        if (!isMessage(message)) return
        if (message.metrics === 'own') all.receive(worker, message.families)
        if (message.metrics === 'wanted') {
          const { id } = message
          void all.collect().then((families) => channel.send({ metrics: 'all', id, families }))
        }
      })
      return () => all.remove(worker)
    },
  }
}

/** In a worker: sends its own metrics when it is asked. Returns how to get those of all. */
export function metricsThrough(channel: Channel, collectOwn: () => Promise<Family[]>): () => Promise<Family[]> {
  const waiting = new Map<number, (families: Family[]) => void>()
  let last = 0
  channel.onMessage((message) => {
    if (!isMessage(message)) return
    if (message.metrics === 'asked') {
      void collectOwn().then((families) => channel.send({ metrics: 'own', families }))
    }
    if (message.metrics === 'all') {
      waiting.get(message.id)?.(message.families)
      waiting.delete(message.id)
    }
  })
  return () => {
    const { promise, resolve } = Promise.withResolvers<Family[]>()
    const id = ++last
    waiting.set(id, resolve)
    channel.send({ metrics: 'wanted', id })
    return promise
  }
}
