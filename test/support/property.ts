/** How often properties of whole builds are tried, and from which seed. More for a long night: PROPERTY_RUNS=2000. */
const { PROPERTY_RUNS = '3', PROPERTY_SEED = '20250304' } = process.env
const SECONDS_PER_RUN = 6
const SHRINKING_SECONDS = 60

/** Options for fast-check, and the time that the test may take. What fails is shrunk for a while and then reported. */
export function tries({ share = 1, seed = 0 }: { share?: number; seed?: number } = {}) {
  const numRuns = Math.ceil(Number(PROPERTY_RUNS) * share)
  const limit_ms = (numRuns * SECONDS_PER_RUN + SHRINKING_SECONDS) * 1000
  return {
    numRuns,
    options: {
      numRuns,
      seed: Number(PROPERTY_SEED) + seed,
      interruptAfterTimeLimit: limit_ms,
      markInterruptAsFailure: true,
    },
    timeout_ms: limit_ms + 60_000,
  }
}
