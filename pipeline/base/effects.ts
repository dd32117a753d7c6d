import type { Files } from './files.ts'

/** Something the build wants a person or a log to know. `share` of `bytes`, 0 to 1, is done. */
export type BuildEvent =
  | { kind: 'stage'; stage: string }
  | { kind: 'progress'; stage: string; share: number; bytes?: number | undefined }
  | { kind: 'done'; stage: string; detail: string }
  | { kind: 'notice'; message: string }

/** What a build does to published and kept files, and its log and clock: tests replace it, the CLI has the real one. */
export interface Effects {
  now(): Date
  report(event: BuildEvent): void
  signal: AbortSignal
  files: Files
}
