/** What a derived number tells about single contributors, from raw records alone. No code of the pipeline, no SQL. */
import type { Derived, PublishedRows, Term } from '../../pipeline/dataset/attack.ts'
import { type Contribution, isSafe, type Rule } from './disclosure-oracle.ts'

/** A public record as it was when a number was published. Models are those of the registry at that time. */
export interface JudgedRecord extends Contribution {
  id: string
}

/** A release, and for each of its dates the public records of the time at which its rows were made. */
export interface JudgedRelease extends PublishedRows {
  recordsOf(date: string): readonly JudgedRecord[]
}

/** A derived number that is not safe. */
export interface Leak {
  what: string
  value: number
  contributors: string[]
}

type Tokens = Map<string, number>

export class Judge {
  readonly #rule: Rule
  readonly #cells = new Map<string, Tokens>()

  /** Throws if a published number is not the sum of its records. */
  constructor(releases: readonly JudgedRelease[], rule: Rule) {
    this.#rule = rule
    for (const { release, rows, recordsOf } of releases) {
      for (const [date, day] of Map.groupBy(rows, (row) => row.date)) {
        const named = new Set(day.map(({ model_permaslug }) => model_permaslug))
        const models = Map.groupBy(recordsOf(date), ({ model }) => (named.has(model) ? model : 'other'))
        for (const { model_permaslug, total_tokens } of day) {
          const tokens = sumsOf(models.get(model_permaslug) ?? [])
          const sum = [...tokens.values()].reduce((total, each) => total + each, 0)
          if (`${sum}` !== total_tokens) {
            throw new Error(`${release}: ${model_permaslug} on ${date} is ${total_tokens}, and its records are ${sum}`)
          }
          this.#cells.set(`${release} ${date} ${model_permaslug}`, tokens)
        }
      }
    }
  }

  /** Why a derived number is not safe; undefined if it is. */
  leakOf({ what, terms }: Derived): Leak | undefined {
    const sums = new Map<string, number>()
    for (const term of terms) {
      for (const [party, tokens] of this.#tokensOf(term)) sums.set(party, (sums.get(party) ?? 0) + term.factor * tokens)
    }
    const parts = [...sums].filter(([, tokens]) => tokens !== 0)
    // The sign does not matter: who knows her own change subtracts it.
    const cell = parts.map(([party, tokens]) => {
      return { date: '', model: '', contributor: party.split(' ', 1)[0] ?? '', tokens: Math.abs(tokens) }
    })
    if (isSafe(cell, this.#rule)) return undefined
    const value = parts.reduce((sum, [, tokens]) => sum + tokens, 0)
    return { what, value, contributors: [...new Set(cell.map(({ contributor }) => contributor))].sort() }
  }

  #tokensOf({ release, row }: Term): Tokens {
    const cell = this.#cells.get(`${release} ${row.date} ${row.model_permaslug}`)
    if (cell === undefined) throw new Error(`no release ${release} has ${row.model_permaslug} on ${row.date}`)
    return cell
  }
}

/** The tokens of each contributor. A record of an unknown one is a party of its own, so that no change cancels another. */
function sumsOf(records: readonly JudgedRecord[]): Tokens {
  const sums: Tokens = new Map()
  for (const { id, contributor, tokens } of records) {
    const party = contributor === 'unknown' ? `unknown ${id}` : contributor
    sums.set(party, (sums.get(party) ?? 0) + tokens)
  }
  return sums
}
