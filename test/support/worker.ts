/** A module that runs as a process of its own and answers one call after the other. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'

export interface Worker<Call, Answer> {
  pid: number | undefined
  call(call: Call): Promise<Answer>
  end(): void
}

interface Reply<Answer> {
  answer?: Answer
  error?: string
}

export function startWorker<Call extends object | string, Answer>(path: string): Worker<Call, Answer> {
  const child = fork(path, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = once(child, 'exit').then((): [Reply<Answer>] => [{ error: 'the process ended' }])
  return {
    pid: child.pid,
    async call(call) {
      child.send(call)
      const [{ answer, error }] = await Promise.race([once(child, 'message') as Promise<[Reply<Answer>]>, ended])
      if (error !== undefined) throw new Error(`${basename(path)}: ${error}`)
      return answer as Answer
    },
    end: () => child.kill(),
  }
}

/** What the module itself does with the calls of the process that started it. */
export function answerCalls<Call, Answer>(answer: (call: Call) => Answer | Promise<Answer>): void {
  const reply = (message: Reply<Answer>) => process.send?.(message)
  process.on('message', async (call: Call) => {
    try {
      reply({ answer: await answer(call) })
    } catch (error) {
      reply({ error: error instanceof Error ? `${error.stack}` : String(error) })
    }
  })
  process.on('disconnect', () => process.exit(0))
}
