/** How long a line may wait, in milliseconds. */
const LONGEST_WAIT_MS = 20

/** The size of an atomic pipe write on Linux (PIPE_BUF). Larger batches could mix with lines of other processes. */
const ATOMIC_BYTES = 4096

/** Writes log lines in batches: one write per line costs as much as a response. */
export function logBatch(target: { write(text: string): unknown }) {
  let batches: string[] = []
  let bytesOfLast = 0

  function flush(): void {
    const full = batches
    batches = []
    for (const batch of full) target.write(batch)
  }

  return {
    write(line: string) {
      if (batches.length === 0) setTimeout(flush, LONGEST_WAIT_MS).unref()
      const bytes = Buffer.byteLength(line)
      const last = batches.length - 1
      if (last >= 0 && bytesOfLast + bytes <= ATOMIC_BYTES) {
        batches[last] += line
        bytesOfLast += bytes
      } else {
        batches.push(line)
        bytesOfLast = bytes
      }
    },
    flush,
  }
}
