import { createInterface, type Interface } from 'node:readline'
import { CliError } from '../base/errors.ts'

/** One thing that only a person knows. */
export interface Question {
  text: string
  /** The flag that answers it; empty if it is optional. */
  flag: string
  /** The answer of an empty line. Without one there has to be an answer. */
  fallback?: string
  /** Nobody has to answer, and there is no flag: the fallback stands in then. */
  isOptional?: boolean
  /** An answer of the right form. */
  example: string
  problem?: (answer: string) => string | undefined
}

/**
 * Asks questions one by one, and reads each answer as a line from a terminal or a file. With `takesDefaults` it asks nothing. A
 * question that gets no answer is collected, so that one error can list them all.
 */
export class Interview {
  readonly #write: (text: string) => void
  readonly #reader: Interface | undefined
  readonly #lines: string[] = []
  readonly #unanswered: Question[] = []
  readonly #takesDefaults: boolean
  readonly #signal: AbortSignal
  #hasEnded = false
  #wake: () => void = () => {}

  constructor(
    input: NodeJS.ReadableStream,
    write: (text: string) => void,
    { takesDefaults, signal }: { takesDefaults: boolean; signal: AbortSignal },
  ) {
    this.#write = write
    this.#takesDefaults = takesDefaults
    this.#signal = signal
    if (takesDefaults) return
    // The terminal itself edits lines and turns Ctrl-C into a signal.
    const reader = createInterface({ input, terminal: false })
    const end = () => {
      this.#hasEnded = true
      this.#wake()
    }
    reader.on('line', (line) => {
      this.#lines.push(line)
      this.#wake()
    })
    reader.on('close', end)
    signal.addEventListener('abort', end)
    this.#reader = reader
  }

  /** An answer without a problem. */
  async ask(question: Question): Promise<string> {
    const { fallback, example } = question
    if (this.#takesDefaults) {
      if (fallback === undefined) this.#unanswered.push(question)
      return fallback ?? example
    }
    for (;;) {
      const line = await this.#next(question)
      if (line === undefined) {
        if (question.isOptional !== true) this.#unanswered.push(question)
        return fallback ?? example
      }
      const answer = line.trim() || fallback
      const problem = answer === undefined ? 'has no default' : question.problem?.(answer)
      if (answer !== undefined && problem === undefined) return answer
      this.#write(`  ${answer === undefined ? 'this' : JSON.stringify(answer)} ${problem}\n`)
    }
  }

  async #next({ text, fallback }: Question): Promise<string | undefined> {
    const isAsked = !this.#hasEnded || this.#lines.length > 0
    if (isAsked) {
      this.#write(`\n${text}${fallback ? ` [${fallback}]` : ''}: `)
    }
    while (this.#lines.length === 0 && !this.#hasEnded) {
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
    if (isAsked && this.#lines.length === 0) this.#write('\n')
    this.#signal.throwIfAborted()
    return this.#lines.shift()
  }

  /** Throws `CliError` that lists the questions without an answer, and the flags that answer them. */
  checkAnswered(): void {
    if (this.#unanswered.length === 0) return
    const lines = this.#unanswered.map(({ text, flag, fallback }) => {
      const otherwise = fallback === undefined ? '' : ` (default: ${fallback})`
      return `  ${flag.padEnd(28)}${text.split('\n').at(-1)}${otherwise}`
    })
    const why = this.#takesDefaults ? 'these have no default' : 'there is nobody to answer'
    throw new CliError(
      `nothing was written: ${why}. Give these flags${this.#takesDefaults ? '' : ', or --yes for the defaults'}:\n${lines.join('\n')}`,
    )
  }

  close(): void {
    this.#reader?.close()
  }
}
