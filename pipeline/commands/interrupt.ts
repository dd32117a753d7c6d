const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const EXIT_CODE_INTERRUPTED = 130

/** Runs a command that Ctrl-C can stop: the first SIGINT, SIGTERM or SIGHUP aborts, the second ends the process. */
export async function withInterrupt<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_CODE_INTERRUPTED)
    controller.abort()
  }
  for (const name of SIGNALS) process.on(name, interrupt)
  try {
    return await run(controller.signal)
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt)
  }
}
