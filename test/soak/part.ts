/** How hard a part tries to break what it is about. */
export interface SoakOptions {
  /** What is random follows from it: a run that failed can be had again. */
  seed: number
  /** How often, 1 for the whole soak; the tests of the system take a part of it. */
  share: number
  signal: AbortSignal
  /** Tells a person how far it is. */
  report(text: string): void
}

/** What a run counted or measured, as docs/evidence/reliability.md shows it. */
export interface Figure {
  /** Such as `builds killed`. */
  what: string
  /** With its unit, if any, such as `200` or `12 ms`. */
  value: string
}

/** A promise that docs/evidence/reliability.md makes, and the attempts to have it broken. */
export interface SoakPart {
  /** One word, by which `make soak` chooses it. */
  name: string
  promise: string
  /** Throws, with seed and moment, when the promise was broken. */
  run(options: SoakOptions): Promise<Figure[]>
}

/** How many of `whole` a run with this share makes, one at least. */
export function shareOf(whole: number, { share }: SoakOptions): number {
  return Math.max(1, Math.round(whole * share))
}
