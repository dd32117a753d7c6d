import type { Files } from './files.ts'

/** Something the build wants a person or a log to know. `share` of `bytes`, 0 to 1, is done. */
export type BuildEvent =
  | { kind: 'stage'; stage: string }
  | { kind: 'progress'; stage: string; share: number; bytes?: number | undefined }
  | { kind: 'done'; stage: string; detail: string }
  | { kind: 'notice'; message: string }

/** All that a build does to the world besides reading its inputs: tests replace it, the CLI passes the real one. */
export interface Effects {
  now(): Date
  report(event: BuildEvent): void
  signal: AbortSignal
  files: Files
}
