import type { Writable } from 'node:stream'

/** Drops what nobody reads any more, as in `tokenboard build --help | head`. A command or server goes on. */
export function keepRunningWithoutReader(...outputs: Writable[]): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}
