/** Made-up gateways with customers: what their logs and registries say, moment after moment. Everything follows from a seed. */

import { addDays } from '../../pipeline/contract/utc-date.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { type Dice, diceFrom } from '../soak/dice.ts'
import type { Rule } from './disclosure-oracle.ts'
import type { RegistryModel } from './oracle.ts'

/** A record as the logs have it at one moment. */
export interface LoggedUse {
  id: string
  date: string
  /** A slug of the registry or an alias. */
  name: string
  /** Empty if it is unknown. */
  contributor: string
  tokens: number
  isPrivate: boolean
  isExempt: boolean
}

/** What a build reads. */
export interface GatewayStep {
  asOf: string
  /** What happened since the last step. */
  events: string[]
  uses: readonly LoggedUse[]
  registry: readonly RegistryModel[]
  rule: Rule & { publish_after_days?: number }
  /** One of the published dates, which is taken out before the build. */
  withdrawn?: { position: number; asOf: string } | undefined
}

const FIRST_DATE = '2025-02-27'
/** Models that only one or two customers ever use, one of them on one date. */
export const PLANTED = ['v/solo', 'v/duo', 'v/once']

class World {
  readonly #dice: Dice
  readonly #customers: string[]
  readonly #models: string[]
  readonly #privateModels = new Set<string>()
  readonly #aliases = new Map<string, string>()
  readonly #optedOut = new Set<string>()
  readonly #hasExempt: boolean
  readonly #hasUnknown: boolean
  #uses: LoggedUse[] = []
  #dates: string[] = []
  #rule: GatewayStep['rule']

  constructor(dice: Dice) {
    this.#dice = dice
    this.#customers = Array.from({ length: 8 + dice.below(6) }, (_, index) =>
      index % 2 === 0 ? `customer-${index}` : `${700 + index}`,
    )
    this.#models = Array.from({ length: dice.pick([6, 12, 56]) }, (_, index) => `v/model-${index}`)
    this.#rule = { min_contributors: 2 + dice.below(4), p_percent: 10, publish_after_days: dice.below(3) }
    this.#hasExempt = dice.chance(0.3)
    this.#hasUnknown = dice.chance(0.3)
    for (let day = 0; day < 3; day += 1) this.#addDay()
  }

  step(number: number): GatewayStep {
    const earlier = `${addDays(this.#dates.at(-1) ?? '', 1)}T12:${10 + number}:00Z`
    const withdrawn = this.#dice.chance(0.2) ? { position: this.#dice.below(9), asOf: earlier } : undefined
    const events = number === 0 ? [] : this.#live()
    const aliases = (model: string) => [...this.#aliases].filter(([, to]) => to === model).map(([alias]) => alias)
    const slugs = [...this.#models, ...PLANTED].filter((model) => !this.#aliases.has(model))
    const registry = slugs.map((model_permaslug) => ({
      model_permaslug,
      aliases: aliases(model_permaslug),
      public: !this.#privateModels.has(model_permaslug),
    }))
    const uses = this.#uses.map((use) => ({ ...use, isPrivate: this.#optedOut.has(use.contributor) }))
    const asOf = `${addDays(this.#dates.at(-1) ?? '', 1)}T12:${10 + number}:30Z`
    return { asOf, events, uses, registry, rule: { ...this.#rule }, withdrawn }
  }

  /** One to three things happen, and often a day passes. */
  #live(): string[] {
    const events = [
      () => this.#addLate(),
      () => this.#toggle(this.#optedOut, this.#dice.pick(this.#customers), 'opts in or out'),
      () => this.#toggle(this.#privateModels, this.#dice.pick(this.#models), 'turns private or public'),
      () => this.#rename(),
      () => this.#tighten(),
    ]
    const happened = Array.from({ length: 1 + this.#dice.below(3) }, () => this.#dice.pick(events)())
    return this.#dice.chance(0.7) ? [...happened, this.#addDay()] : happened
  }

  #addDay(): string {
    const date = addDays(this.#dates.at(-1) ?? FIRST_DATE, 1)
    this.#dates.push(date)
    for (const [rank, model] of this.#models.entries()) {
      // The more popular a model is, the more customers use it.
      const share = this.#dice.pick([0.9, 0.7, 1 / (rank + 1)])
      const users = this.#customers.filter(() => this.#dice.chance(share))
      for (const customer of users) this.#use(date, model, customer)
    }
    const [first = '', second = '', third = ''] = this.#customers
    this.#use(date, 'v/solo', first)
    this.#use(date, 'v/duo', first)
    this.#use(date, 'v/duo', second)
    if (this.#dates.length === 2) this.#use(date, 'v/once', third)
    return `${date} passes`
  }

  #addLate(): string {
    const [date, model, customer] = [this.#dates, this.#models, this.#customers].map((list) => this.#dice.pick(list))
    this.#use(date ?? '', model ?? '', customer ?? '')
    return `late: ${customer} uses ${model} on ${date}`
  }

  /** Tokens are Zipf: customer n has about 1/n of what the first has. */
  #use(date: string, name: string, contributor: string): void {
    const scale = 2000 / (this.#customers.indexOf(contributor) + 1)
    this.#uses.push({
      id: `${this.#uses.length}`,
      date,
      name,
      contributor: this.#hasUnknown && this.#dice.chance(0.01) ? '' : contributor,
      tokens: 1 + Math.floor(scale * (0.2 + this.#dice.below(1000) / 1000)),
      isPrivate: false,
      isExempt: this.#hasExempt && this.#dice.chance(0.05),
    })
  }

  #toggle(set: Set<string>, name: string, what: string): string {
    if (!set.delete(name)) set.add(name)
    return `${name} ${what}`
  }

  /** A model is from now on an alias of another one, for all dates. */
  #rename(): string {
    const [from = '', to = ''] = this.#models
    if (this.#aliases.has(from)) this.#aliases.delete(from)
    else this.#aliases.set(from, to)
    return `${from} is an alias of ${to} or no longer`
  }

  #tighten(): string {
    this.#rule = { ...this.#rule, min_contributors: this.#rule.min_contributors + 1 }
    return 'the rule is tightened'
  }
}

/** A gateway of two to so many builds. */
export function randomGateway(seed: number, mostSteps: number): GatewayStep[] {
  const dice = diceFrom(seededRandom('gateway', seed))
  const world = new World(dice)
  return Array.from({ length: 2 + dice.below(mostSteps - 1) }, (_, number) => world.step(number))
}
