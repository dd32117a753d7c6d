/**
 * How much work a regular expression is for an engine that backtracks, as the one of V8 does. Counted in steps, so the
 * same on every machine. Knows what the patterns of this project use: no back references, no `v` flag, and lookbehind of
 * a single character.
 */

/** What a search came to. `matches` is undefined where the steps ran out before. */
export interface Search {
  steps: number
  matches: boolean | undefined
}

/** Searches `text` for the pattern, with at most `most` steps. */
export type Searcher = (text: string, most: number) => Search

interface Run {
  text: string
  steps: number
  most: number
}

type Next = (at: number) => boolean
/** Matches something at a place and goes on to what follows; tries its next way when that fails. */
type Matcher = (run: Run, at: number, next: Next) => boolean
/** The character at a place if it fits, otherwise nothing. */
type OneCharacter = (run: Run, at: number) => string

class OutOfSteps extends Error {}

export function searcherOf(pattern: RegExp): Searcher {
  if (pattern.unicodeSets) throw new Error(`${pattern}: the v flag is not known here`)
  const match = new Parser(pattern).parse()
  return (text, most) => {
    const run = { text, steps: 0, most }
    try {
      for (let at = 0; at <= text.length; at++) {
        if (match(run, at, () => true)) return { steps: run.steps, matches: true }
      }
      return { steps: run.steps, matches: false }
    } catch (error) {
      if (!(error instanceof OutOfSteps)) throw error
      return { steps: run.steps, matches: undefined }
    }
  }
}

function step(run: Run): void {
  run.steps++
  if (run.steps > run.most) throw new OutOfSteps()
}

class Parser {
  readonly #pattern: RegExp
  readonly #source: string
  #at = 0

  constructor(pattern: RegExp) {
    this.#pattern = pattern
    this.#source = pattern.source
  }

  parse(): Matcher {
    const match = this.#alternatives()
    if (this.#at < this.#source.length) this.#fail()
    return match
  }

  #alternatives(): Matcher {
    const branches = [this.#sequence()]
    while (this.#take('|')) branches.push(this.#sequence())
    const [only] = branches
    if (branches.length === 1 && only !== undefined) return only
    return (run, at, next) => branches.some((branch) => branch(run, at, next))
  }

  #sequence(): Matcher {
    const parts: Matcher[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) parts.push(this.#term())
    return parts.reduceRight<Matcher>(
      (rest, part) => (run, at, next) => part(run, at, (after) => rest(run, after, next)),
      (_run, at, next) => next(at),
    )
  }

  #term(): Matcher {
    for (const [text, holds] of this.#assertions()) {
      if (this.#take(text)) return where(holds)
    }
    if (this.#take('(?=')) return lookahead(this.#group(), true)
    if (this.#take('(?!')) return lookahead(this.#group(), false)
    if (this.#take('(?<=')) return lookbehind(this.#group(), true)
    if (this.#take('(?<!')) return lookbehind(this.#group(), false)
    if (this.#takePattern(/\((?:\?:|\?<\w+>)?/y) !== '') return this.#repeated(this.#group())
    const one = oneCharacter(this.#character(), this.#pattern.flags.replaceAll(/[^isu]/g, ''))
    return this.#repeatedCharacter(one)
  }

  #group(): Matcher {
    const inner = this.#alternatives()
    if (!this.#take(')')) this.#fail()
    return inner
  }

  #assertions(): [string, (text: string, at: number) => boolean][] {
    const { multiline } = this.#pattern
    const isEndOfLine = (character = '') => multiline && /^[\n\r\u2028\u2029]$/.test(character)
    const isBoundary = (text: string, at: number) => isWord(text[at - 1]) !== isWord(text[at])
    return [
      ['^', (text, at) => at === 0 || isEndOfLine(text[at - 1])],
      ['$', (text, at) => at === text.length || isEndOfLine(text[at])],
      ['\\b', isBoundary],
      ['\\B', (text, at) => !isBoundary(text, at)],
    ]
  }

  /** The source of what stands for one character: itself, an escape, a class. */
  #character(): string {
    const escaped = /\\(?:[pPu]\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[^1-9k])/iy
    const found =
      this.#takePattern(/\[(?:[^\]\\]|\\.)*\]/sy) || this.#takePattern(escaped) || this.#takePattern(/[^\\]/uy)
    return found === '' ? this.#fail() : found
  }

  #repeated(part: Matcher): Matcher {
    const { least, most, isLazy } = this.#quantifier()
    if (least === 1 && most === 1) return part
    return (run, start, next) => {
      const more = (count: number, at: number): boolean => {
        step(run)
        const again = () =>
          count < most && part(run, at, (after) => (after > at || count < least) && more(count + 1, after))
        const done = () => count >= least && next(at)
        return isLazy ? done() || again() : again() || done()
      }
      return more(0, start)
    }
  }

  /** In a loop, because a text has more characters than the stack has room for. */
  #repeatedCharacter(one: OneCharacter): Matcher {
    const { least, most, isLazy } = this.#quantifier()
    return (run, start, next) => {
      const ends = [start]
      const extend = () => {
        const at = ends.at(-1) ?? start
        const { length } = ends.length > most ? '' : one(run, at)
        if (length > 0) ends.push(at + length)
        return length > 0
      }
      while (ends.length <= least) if (!extend()) return false
      if (isLazy) {
        do {
          if (next(ends.at(-1) ?? start)) return true
        } while (extend())
        return false
      }
      while (extend());
      for (let count = ends.length - 1; count >= least; count--) {
        step(run)
        if (next(ends[count] ?? start)) return true
      }
      return false
    }
  }

  #quantifier(): { least: number; most: number; isLazy: boolean } {
    const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}$/.exec(this.#takePattern(/\{\d+(?:,\d*)?\}/y)) ?? []
    const simple = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1], '': [1, 1] } as const
    const [from, to] =
      least === undefined
        ? simple[this.#takePattern(/[*+?]/y) as keyof typeof simple]
        : [Number(least), most ? Number(most) : comma ? Infinity : Number(least)]
    const isLazy = (from !== 1 || to !== 1) && this.#take('?')
    return { least: from, most: to, isLazy }
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #takePattern(sticky: RegExp): string {
    sticky.lastIndex = this.#at
    const [found = ''] = sticky.exec(this.#source) ?? []
    this.#at += found.length
    return found
  }

  #fail(): never {
    throw new Error(`${this.#pattern}: what stands at ${this.#at} is not known here`)
  }
}

function where(holds: (text: string, at: number) => boolean): Matcher {
  return (run, at, next) => {
    step(run)
    return holds(run.text, at) && next(at)
  }
}

function lookahead(inner: Matcher, isWanted: boolean): Matcher {
  return (run, at, next) => inner(run, at, () => true) === isWanted && next(at)
}

function lookbehind(inner: Matcher, isWanted: boolean): Matcher {
  return (run, at, next) => {
    const isThere = at > 0 && inner(run, at - 1, (end) => end === at)
    return isThere === isWanted && next(at)
  }
}

/** Asks the real engine, once for each character. */
function oneCharacter(source: string, flags: string): OneCharacter {
  const pattern = new RegExp(`^${source}$`, flags)
  const known = new Map<string, boolean>()
  const isWhole = flags.includes('u')
  return (run, at) => {
    step(run)
    const character = isWhole ? String.fromCodePoint(...codePointAt(run.text, at)) : (run.text[at] ?? '')
    let fits = known.get(character)
    if (fits === undefined) {
      fits = character !== '' && pattern.test(character)
      known.set(character, fits)
    }
    return fits ? character : ''
  }
}

function codePointAt(text: string, at: number): number[] {
  const code = text.codePointAt(at)
  return code === undefined ? [] : [code]
}

function isWord(character = ''): boolean {
  return /^\w$/.test(character)
}
