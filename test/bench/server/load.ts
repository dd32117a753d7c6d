import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Load, LoadResult } from './client.ts'
import { onCore } from './cores.ts'

/** The load generator as a process, kept between rounds so that it is as warm as the servers. */
export interface LoadGenerator {
  run(load: Load): Promise<LoadResult>
  close(): void
}

export function loadGenerator(): LoadGenerator {
  const child: ChildProcess = fork(join(import.meta.dirname, 'client.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  onCore(child.pid, 'client')
  return {
    async run(load) {
      child.send(load)
      const [answer] = (await once(child, 'message')) as [{ result?: LoadResult; error?: string }]
      if (answer.result === undefined) throw new Error(`the load on port ${load.port} failed: ${answer.error}`)
      return answer.result
    },
    close: () => child.disconnect(),
  }
}
