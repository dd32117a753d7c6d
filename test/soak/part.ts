/** How hard a part tries to break its promise. */
export interface SoakOptions {
  /** Everything random follows from it, so that a failed run can be repeated. */
  seed: number
  /** How much of the whole to do, above 0 and up to 1. */
  share: number
  signal: AbortSignal
  /** Tells a person how far it is. */
  report(text: string): void
}

/** What a run counted or measured, as docs/evidence/reliability.md shows it. */
export interface Figure {
  /** Such as `builds killed`. */
  what: string
  /** With its unit, such as `12 ms`. */
  value: string
}

/** A promise of docs/evidence/reliability.md, and the attempts to break it. */
export interface SoakPart {
  promise: string
  /** Throws, with seed and moment, when the promise was broken. */
  run(options: SoakOptions): Promise<Figure[]>
}

/** How many of `whole` a run with this share makes, at least one. */
export function shareOf(whole: number, { share }: SoakOptions): number {
  return Math.max(1, Math.round(whole * share))
}
