/** Before that many seconds a rate says little about the rest. */
const SECONDS_BEFORE_ESTIMATE = 3

/** A rate is that of the last half minute, and in a longer stage of about its last half. */
const RATE_SECONDS = 30

/** How many seconds a new estimate takes to replace most of the former one. */
const SMOOTHING_SECONDS = 5

/** How far one stage is, how fast it goes, and when it may be done. Instants are in milliseconds. */
export class StageProgress {
  readonly stage: string
  #bytes: number | undefined
  #startedAt: number | undefined
  #last = { share: 0, at: 0 }
  /** What was gained in which time, the past weighing less and less: their quotient is the rate. */
  #recent = { share: 0, seconds: 0 }
  #remaining: number | undefined

  constructor(stage: string) {
    this.stage = stage
  }

  /** Takes the share that is done, 0 to 1, of all bytes of the stage. What was done once stays done. */
  update({ share, bytes }: { share: number; bytes?: number | undefined }, at: number): void {
    const now = { share: Math.max(this.#last.share, Math.min(share, 1)), at }
    this.#bytes = bytes
    if (this.#startedAt === undefined) {
      // What was done before the first report took an unknown time.
      this.#startedAt = at
      this.#last = now
      return
    }
    const passed = (at - this.#last.at) / 1000
    const elapsed = (at - this.#startedAt) / 1000
    const kept = Math.exp(-passed / Math.max(RATE_SECONDS, elapsed / 2))
    this.#recent = {
      share: this.#recent.share * kept + now.share - this.#last.share,
      seconds: this.#recent.seconds * kept + passed,
    }
    this.#last = now
    if (elapsed < SECONDS_BEFORE_ESTIMATE || this.#recent.share <= 0) return
    this.#remaining = smoothed(this.#remaining, (1 - now.share) / this.#rate, passed)
  }

  /** Seconds until the stage is done; undefined in the first seconds and when nothing is left. */
  get remaining(): number | undefined {
    return this.#last.share < 1 ? this.#remaining : undefined
  }

  /** Such as `read gateway … 25 %, 51 of 200 MB, 26 MB/s, about 10 s left`. */
  get line(): string {
    const { share } = this.#last
    const bytes = this.#bytes
    const facts = [`${Math.floor(share * 100)} %`]
    if (bytes !== undefined) facts.push(bytesOf(bytes * share, bytes))
    if (bytes !== undefined && this.#rate > 0) facts.push(`${formatBytes(bytes * this.#rate)}/s`)
    if (this.remaining !== undefined) facts.push(`about ${formatDuration(this.remaining)} left`)
    return `${this.stage} … ${facts.join(', ')}`
  }

  /** The share that is done in a second. */
  get #rate(): number {
    const { share, seconds } = this.#recent
    return seconds > 0 ? share / seconds : 0
  }
}

/**
 * The former remaining time goes on counting down and is drawn to the new estimate: work is reported in lumps, and an
 * estimate of its own jumps with each.
 */
function smoothed(former: number | undefined, estimate: number, passed: number): number {
  if (former === undefined) return estimate
  const counted = Math.max(0, former - passed)
  return counted + (estimate - counted) * (1 - Math.exp(-passed / SMOOTHING_SECONDS))
}

const UNITS = [
  { name: 'TB', bytes: 1e12, decimals: 1 },
  { name: 'GB', bytes: 1e9, decimals: 1 },
  { name: 'MB', bytes: 1e6, decimals: 0 },
  { name: 'kB', bytes: 1e3, decimals: 0 },
] as const
const SMALLEST_UNIT = { name: 'B', bytes: 1, decimals: 0 } as const

function unitOf(bytes: number): { name: string; bytes: number; decimals: number } {
  return UNITS.find((unit) => bytes >= unit.bytes) ?? SMALLEST_UNIT
}

/** `51 of 200 MB`: both in the unit of the whole. */
function bytesOf(part: number, whole: number): string {
  const { bytes, decimals } = unitOf(whole)
  return `${(part / bytes).toFixed(decimals)} of ${formatBytes(whole)}`
}

/** `51 MB`. */
export function formatBytes(count: number): string {
  const { name, bytes, decimals } = unitOf(count)
  return `${(count / bytes).toFixed(decimals)} ${name}`
}

/** Rounded, and the coarser the longer: a number of seconds would promise what nobody knows. */
function formatDuration(seconds: number): string {
  const rounded = Math.max(5, Math.round(seconds / 5) * 5)
  if (rounded < 60) return `${rounded} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
