import type { Comparison } from './comparison.ts'

/** Comparisons that share what they are measured on; `close` ends every process that was started for them. */
export interface Suite {
  comparisons: Comparison[]
  skipped: string[]
  close(): Promise<void>
}
