import { explain, PrintedError } from '../base/failure.ts'
import { printableLines } from '../base/prose.ts'
import { endProgress } from './reporter.ts'
import { say } from './say.ts'

export function printError(error: unknown): void {
  if (error instanceof PrintedError) return
  endProgress(process.stderr)
  say(`tokenboard: ${printableLines(explain(error))}\n`)
}
