/** Takes log lines and writes those of a moment together: a write for each costs as much as an answer. */
export interface LogBatch {
  write(line: string): void
  /** Writes what is left, now. For the end of the process, after which there is no other turn. */
  flush(): void
}

/** How long a line may wait, in milliseconds: nobody who reads along sees it, and a killed process loses little. */
const LONGEST_WAIT_MS = 20

/** Linux writes so many bytes into a pipe in one go (PIPE_BUF): lines of several processes must not be torn apart. */
const ATOMIC_BYTES = 4096

export function logBatch(target: { write(text: string): unknown }): LogBatch {
  let batches: string[] = []
  let bytesOfLast = 0

  function flush(): void {
    const full = batches
    batches = []
    for (const batch of full) target.write(batch)
  }

  return {
    write(line) {
      if (batches.length === 0) setTimeout(flush, LONGEST_WAIT_MS).unref()
      const bytes = Buffer.byteLength(line)
      if (batches.length > 0 && bytesOfLast + bytes <= ATOMIC_BYTES) {
        batches.push(batches.pop() + line)
        bytesOfLast += bytes
      } else {
        batches.push(line)
        bytesOfLast = bytes
      }
    },
    flush,
  }
}
