import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
  /** Throws, with the moment, when the promise was broken; `soak.ts` adds the seed. */
  run(options: SoakOptions): Promise<Figure[]>
}

/** How many of `whole` a run with this share makes, at least one. */
export function shareOf(whole: number, { share }: SoakOptions): number {
  return Math.max(1, Math.round(whole * share))
}

export type Folders = Record<'publicDir' | 'dataDir', string>

/** Works in a folder of its own with the folders of a server, which is removed afterwards. */
export async function inFolder<T>(work: (folders: Folders) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-soak-'))
  try {
    return await work({ publicDir: join(folder, 'public'), dataDir: join(folder, 'data') })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
