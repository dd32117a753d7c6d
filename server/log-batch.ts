import type { Writable } from 'node:stream'

/** Takes log lines and writes those of one turn of the event loop together: a write for each costs as much as an answer. */
export interface LogBatch {
  write(line: string): void
  /** Writes what is left, now. For the end of the process, after which there is no other turn. */
  flush(): void
}

export function logBatch(target: Pick<Writable, 'write'>): LogBatch {
  let lines = ''

  function flush(): void {
    if (lines === '') return
    const batch = lines
    lines = ''
    target.write(batch)
  }

  return {
    write(line) {
      if (lines === '') setImmediate(flush)
      lines += line
    },
    flush,
  }
}
