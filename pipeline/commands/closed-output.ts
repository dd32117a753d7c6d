import type { Writable } from 'node:stream'

/** A closed pipe is not an error, as in `tokenboard build --help | head`: the command or server goes on. */
export function ignoreClosedPipes(...outputs: Writable[]): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}
