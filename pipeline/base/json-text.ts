import { printable } from './prose.ts'

/** Where a value is: the keys and indexes that lead to it. */
export type JsonPath = readonly (string | number)[]

/** What is wrong at a place of a text. */
export interface TextFault {
  offset: number
  problem: string
}

/** Deeper levels could exceed the call stack. */
export const MOST_LEVELS = 500
const LONGEST_WORD = 40
const VALUE = 'a value (a text needs double quotes)'
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/
const SPACE = /[ \t\r\n]+/y
const COMMENT = /\/\/[^\n]*|\/\*.*?(?:\*\/|$)|#[^\n]*/sy
const WORD = /"[^"\n]*"?|[^\s,:[\]{}"]+|./suy

/**
 * Calls `visit` for each value of a JSON text with the offset of its key, or of itself in a list. Returns what is wrong:
 * every comment, trailing comma and duplicate key, and the first fault after which the rest cannot be read.
 */
export function readJsonText(text: string, visit: (path: JsonPath, offset: number) => void = () => {}): TextFault[] {
  const reader = new JsonReader(text, visit)
  return reader.faults.sort((a, b) => a.offset - b.offset)
}

class JsonReader {
  readonly faults: TextFault[] = []
  readonly #text: string
  readonly #visit: (path: JsonPath, offset: number) => void
  readonly #path: (string | number)[] = []
  #at = 0

  constructor(text: string, visit: (path: JsonPath, offset: number) => void) {
    this.#text = text
    this.#visit = visit
    if (!this.#value()) return
    this.#skipSpace()
    if (this.#at < text.length) this.#expected('the end of the file')
  }

  /** Whether the text can be read on. */
  #value(): boolean {
    this.#skipSpace()
    if (this.#path.length > MOST_LEVELS) return this.#fault(`nested deeper than ${MOST_LEVELS} levels`)
    const character = this.#text[this.#at]
    if (character === '{') {
      const keys = new Set<string>()
      return this.#members('}', () => this.#member(keys))
    }
    if (character === '[') return this.#members(']', (index) => this.#item(index))
    if (character === '"') return this.#string() !== undefined
    const word = this.#match(WORD)
    if (!LITERAL.test(word)) return this.#expected(VALUE)
    this.#at += word.length
    return true
  }

  #members(end: string, read: (index: number) => boolean): boolean {
    this.#at += 1
    this.#skipSpace()
    for (let index = 0; this.#text[this.#at] !== end; index++) {
      if (!read(index)) return false
      this.#skipSpace()
      if (this.#text[this.#at] === end) break
      const comma = this.#at
      if (!this.#take(',', `"," or "${end}"`)) return false
      this.#skipSpace()
      if (this.#text[this.#at] === end)
        this.faults.push({ offset: comma, problem: `a comma before "${end}"; remove it` })
    }
    this.#at += 1
    return true
  }

  #member(keys: Set<string>): boolean {
    const offset = this.#at
    if (this.#text[offset] !== '"') return this.#expected('a key in double quotes')
    const key = this.#string()
    if (key === undefined) return false
    if (keys.has(key)) {
      this.faults.push({ offset, problem: `${placeOf([...this.#path, key])}: is a duplicate key; keep one` })
    }
    keys.add(key)
    this.#skipSpace()
    return this.#take(':', '":"') && this.#inside(key, offset)
  }

  #item(index: number): boolean {
    return this.#inside(index, this.#at)
  }

  #inside(key: string | number, offset: number): boolean {
    this.#path.push(key)
    this.#visit(this.#path, offset)
    const isRead = this.#value()
    this.#path.pop()
    return isRead
  }

  #string(): string | undefined {
    const end = endOfString(this.#text, this.#at)
    if (end === undefined) return this.#noString('a text that does not end on its line')
    try {
      const value: string = JSON.parse(this.#text.slice(this.#at, end))
      this.#at = end
      return value
    } catch {
      return this.#noString('a text with a control character or a wrong escape; write \\\\ for \\')
    }
  }

  #noString(problem: string): undefined {
    this.#fault(problem)
  }

  #skipSpace(): void {
    for (;;) {
      const comment = this.#match(COMMENT)
      if (comment !== '') this.#fault('a comment, which JSON does not allow; remove it')
      const space = comment === '' ? this.#match(SPACE) : comment
      if (space === '') return
      this.#at += space.length
    }
  }

  #take(character: string, expected: string): boolean {
    if (this.#text[this.#at] !== character) return this.#expected(expected)
    this.#at += 1
    return true
  }

  #expected(what: string): false {
    const word = printable(this.#match(WORD).slice(0, LONGEST_WORD))
    return this.#fault(`not JSON: expected ${what}, found ${word === '' ? 'the end of the file' : word}`)
  }

  #fault(problem: string): false {
    this.faults.push({ offset: this.#at, problem })
    return false
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0] ?? ''
  }
}

function endOfString(text: string, start: number): number | undefined {
  let end = start + 1
  while (text[end] !== '"') {
    if (end >= text.length || text[end] === '\n') return undefined
    end += text[end] === '\\' ? 2 : 1
  }
  return end + 1
}

/** Such as `sources[0].name`. */
export function placeOf(path: readonly PropertyKey[]): string {
  const places = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  return places.join('').replace(/^\./, '')
}

/** Finds the line of a value by its path; of a value that is missing, the line of what it belongs in. */
export function lineFinder(text: string): (path: readonly PropertyKey[]) => number {
  const lines = new Map<string, number>()
  const lineAt = lineCounter(text)
  readJsonText(text, (path, offset) => lines.set(JSON.stringify(path), lineAt(offset)))
  return (path) => {
    const around = path.map((_, depth) => lines.get(JSON.stringify(path.slice(0, path.length - depth))))
    return around.find((each) => each !== undefined) ?? 1
  }
}

/** Returns the line of each offset, if none is before the one of the last call. */
export function lineCounter(text: string): (offset: number) => number {
  let [line, counted] = [1, 0]
  return (offset) => {
    line += text.slice(counted, offset).split('\n').length - 1
    counted = offset
    return line
  }
}

export function columnAt(text: string, offset: number): number {
  return [...text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)].length + 1
}
