import type { Files } from './files.ts'

/** Something the build wants a person or a log to know. `share` is 0 to 1, absent where no total is known. */
export type BuildEvent =
  | { kind: 'stage'; stage: string }
  | { kind: 'progress'; stage: string; rows: number; share?: number | undefined }
  | { kind: 'done'; stage: string; detail: string }
  | { kind: 'notice'; message: string }

/** All that a build does to the world besides reading its inputs: tests replace it, the CLI passes the real one. */
export interface Effects {
  now(): Date
  report(event: BuildEvent): void
  signal: AbortSignal
  files: Files
}
