import { hostileClients } from './load-hostile.ts'
import { orderlyClients } from './load-orderly.ts'

/*
 * Clients of a server under load, as processes of their own: those whose requests must succeed, or those who do what
 * they can to keep them from it. Told by the process that started them what to do and when to end.
 */

export interface ClientOrder {
  role: 'orderly' | 'hostile'
  port: number
  key: string
  seed: number
  /** Connections that ask nothing. */
  idle: number
}

/** What clients of either role count while they run. */
export interface RunningClients {
  /** The server is told to stop: who is not being answered may be refused from now on. */
  expectStop(): void
  /** Ends, and says what was counted. Throws what went wrong. */
  stop(): Promise<ClientCounts>
}

export interface ClientCounts {
  counts: Record<string, number>
  /** Milliseconds of each good answer. */
  latencies: number[]
}

let running: RunningClients | undefined

process.on('message', (message: ClientOrder | 'expect-stop' | 'stop') => {
  if (message === 'expect-stop') running?.expectStop()
  else if (message === 'stop') {
    running?.stop().then(
      (result) => process.send?.({ result }),
      (error: unknown) =>
        process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  } else running = message.role === 'orderly' ? orderlyClients(message) : hostileClients(message)
})
process.on('disconnect', () => process.exit(0))
