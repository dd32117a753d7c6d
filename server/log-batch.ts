import type { Writable } from 'node:stream'

/** Takes log lines and writes those of a moment together: a write for each costs as much as an answer. */
export interface LogBatch {
  write(line: string): void
  /** Writes what is left, now. For the end of the process, after which there is no other turn. */
  flush(): void
}

/** How long a line may wait, in milliseconds: nobody who reads along sees it, and a killed process loses little. */
const LONGEST_WAIT_MS = 20

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
      if (lines === '') setTimeout(flush, LONGEST_WAIT_MS).unref()
      lines += line
    },
    flush,
  }
}
