/** The tokens of a script as DuckDB finds them: where each begins, in bytes, and its type. */
export interface Tokens {
  offsets: readonly number[]
  types: readonly number[]
}

export interface ScriptStatement {
  /** Begins with as many lines and blanks as come before it, so that errors name its place in the script. */
  sql: string
  /** True if it changes something and has no rows of its own. */
  isCommand: boolean
}

const COMMENT = 5
const SEMICOLON = ';'.charCodeAt(0)

const COMMANDS =
  /^(alter|analyze|attach|begin|call|checkpoint|comment|commit|copy|create|deallocate|delete|detach|drop|execute|export|import|insert|install|load|merge|prepare|reset|rollback|set|truncate|update|use|vacuum)$/i

/** Splits a script at its semicolons. Texts and comments may have some, too. */
export function splitScript(script: string, { offsets, types }: Tokens): ScriptStatement[] {
  const bytes = new TextEncoder().encode(script)
  const statements: ScriptStatement[] = []
  let [start, first] = [0, -1]
  const finish = (end: number) => {
    if (first >= 0) {
      const word = /^\w*/.exec(textOf(bytes, first, end))?.[0] ?? ''
      const sql = textOf(bytes, 0, start).replaceAll(/[^\n]/g, ' ') + textOf(bytes, start, end)
      statements.push({ sql, isCommand: COMMANDS.test(word) })
    }
    start = end + 1
    first = -1
  }
  for (const [at, offset] of offsets.entries()) {
    if (bytes[offset] === SEMICOLON) finish(offset)
    else if (first < 0 && types[at] !== COMMENT) first = offset
  }
  finish(bytes.length)
  return statements
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return new TextDecoder().decode(bytes.subarray(from, to))
}

/** Keeps the rows of a question as the table `answer`. Adds one line before the question. */
export function keepAnswer(question: string): string {
  return `CREATE OR REPLACE TEMP TABLE answer AS FROM (\n${question}\n)`
}

/** An error of `keepAnswer` with the lines of the question. DuckDB gives the place of some errors twice. */
export function errorOfQuestion(message: string): string {
  const [text = '', ...places] = message.split(/\n\n(?=LINE \d+:)/)
  const shifted = [...new Set(places)].map((place) =>
    place.replace(/^LINE (\d+):/, (all, line) => `LINE ${Number(line) - 1}:`.padEnd(all.length)),
  )
  return [text, ...shifted].join('\n\n')
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
