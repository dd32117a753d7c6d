/** What a derived number tells about single contributors, from raw records alone. No code of the pipeline, no SQL. */
import { firstDateOf, TABLES, type TableRow } from '../../pipeline/contract/tables.ts'
import type { Derived, PublishedRows, Term } from '../../pipeline/dataset/derived.ts'
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

/** The records behind a published number, or behind a derived one with how often they are counted. */
type Cell = readonly JudgedRecord[]

export class Judge {
  readonly #rule: Rule
  readonly #cells = new Map<string, Cell>()

  /** Throws if a published number is not the sum of its records. */
  constructor(releases: readonly JudgedRelease[], rule: Rule) {
    this.#rule = rule
    for (const { release, rows, periods, recordsOf } of releases) {
      const dates = new Set(rows.map(({ date }) => date))
      for (const table of periods === undefined ? (['daily'] as const) : TABLES) {
        const records = Map.groupBy(dates, (date) => firstDateOf(table, date))
        const published = table === 'daily' ? rows : (periods?.[table] ?? [])
        for (const [date, own] of Map.groupBy(published, (row) => row.date)) {
          this.#add(`${release} ${table}`, own, (records.get(date) ?? []).flatMap(recordsOf))
        }
      }
    }
  }

  #add(where: string, rows: readonly TableRow[], records: Cell): void {
    const named = new Set(rows.map(({ model_permaslug }) => model_permaslug))
    const models = Map.groupBy(records, ({ model }) => (named.has(model) ? model : 'other'))
    for (const { date, model_permaslug, total_tokens } of rows) {
      const cell = models.get(model_permaslug) ?? []
      const sum = cell.reduce((total, { tokens }) => total + tokens, 0)
      if (`${sum}` !== total_tokens) {
        throw new Error(`${where}: ${model_permaslug} on ${date} is ${total_tokens}, and its records are ${sum}`)
      }
      this.#cells.set(`${where} ${date} ${model_permaslug}`, cell)
    }
  }

  /**
   * Why a derived number is not safe; undefined if it is. Whether a record is added or subtracted does not matter: who knows
   * her own ones takes them out. What is added and subtracted again is not in the number.
   */
  leakOf({ what, terms }: Derived): Leak | undefined {
    const counts = new Map<string, { record: JudgedRecord; tokens: number }>()
    for (const term of terms) {
      for (const record of this.#cellOf(term)) {
        const counted = counts.get(record.id) ?? { record, tokens: 0 }
        counts.set(record.id, { record, tokens: counted.tokens + term.factor * record.tokens })
      }
    }
    const parts = [...counts.values()].filter(({ tokens }) => tokens !== 0)
    const cell = parts.map(({ record, tokens }) => ({ ...record, tokens: Math.abs(tokens) }))
    if (isSafe(cell, this.#rule)) return undefined
    const value = parts.reduce((sum, { tokens }) => sum + tokens, 0)
    return { what, value, contributors: [...new Set(cell.map(({ contributor }) => contributor))].sort() }
  }

  #cellOf({ release, table, row }: Term): Cell {
    const cell = this.#cells.get(`${release} ${table} ${row.date} ${row.model_permaslug}`)
    if (cell === undefined) throw new Error(`no ${table} row of ${release} is ${row.model_permaslug} on ${row.date}`)
    return cell
  }
}
