import { counted } from '../../base/numbers.ts'
import { type Protected, type RuleStatement, ruleOf } from '../../contract/disclosure.ts'
import type { Manifest } from '../../contract/manifest.ts'

/** What is said of disclosure control wherever a release is described, as sentences in plain text. */
export interface DisclosureWords {
  /** Whom the rule protects, and how; or that there was none. */
  protection: string
  /** When a date is published. Empty without a rule. */
  timing: string
  /** What the rule means for whoever reads the numbers. Empty without a rule. */
  reading: string
}

/** Undefined if the publisher says nothing of disclosure control. */
export function disclosureWords({
  disclosure,
  start_date,
}: Pick<Manifest, 'disclosure' | 'start_date'>): DisclosureWords | undefined {
  if (disclosure === undefined) return undefined
  if (disclosure === 'none') return { protection: NO_CONTROL, timing: '', reading: '' }
  const { publish_after_days } = disclosure.rule
  const when =
    publish_after_days === 0 ? 'as soon as it has ended' : `${counted(publish_after_days, 'day')} after its end`
  return {
    protection: [...whenSafe(disclosure), ...sinceWhen(disclosure, start_date), ...exemptions(disclosure)].join(' '),
    timing: `A date is published ${when}, and does not change from then on.`,
    reading: READING,
  }
}

/** All of it as one paragraph. */
export function inOneParagraph({ protection, timing, reading }: DisclosureWords): string {
  return [protection, timing, reading].filter((text) => text !== '').join(' ')
}

export function isRuled({ disclosure }: Pick<Manifest, 'disclosure'>): boolean {
  return ruleOf(disclosure) !== undefined
}

const NO_CONTROL = 'No disclosure control was applied: a number may be the usage of a single customer.'

const READING =
  'Usage of a model that is not safe to publish is part of `other`, which may therefore be larger than the first model. A ' +
  'model without a row on a date may have had many tokens: that is not zero. A date without rows had no usage, or none that ' +
  'is safe to publish. Sums over dates or models mean “at least”.'

function whenSafe({ rule: { min_contributors, p_percent }, protects }: RuleStatement): string[] {
  const units = protects.includes('customers') ? (['customers'] as const) : protects
  const named = units.map((unit) => UNITS[unit]).join(' or ') || UNITS.customers
  return [
    `A number is published only if at least ${min_contributors} ${named} have tokens in it, and if the second largest of ` +
      `them cannot estimate the largest to within ${p_percent} %.`,
    ...notesOn(protects),
  ]
}

const UNITS = { customers: 'customers', end_users: 'end users', api_keys: 'API keys' } as const

/** What counts where logs name no customer. */
const SUBSTITUTES = { end_users: 'an end user', api_keys: 'an API key' } as const

/** What of a rule's protection is not that of customers. */
function notesOn(protects: readonly Protected[]): string[] {
  const others = protects.filter((unit) => unit !== 'customers')
  if (others.length === 0) return []
  const counts = `${others.map((unit) => SUBSTITUTES[unit]).join(' or ')} counts as one`
  if (protects.includes('customers')) return [`Where the logs name no customer, ${counts}.`]
  return [
    `The logs name no customers: one with several ${others.map((unit) => UNITS[unit]).join(' or ')} is protected less.`,
  ]
}

function sinceWhen({ since }: RuleStatement, start_date: string): string[] {
  const others = 'published under another rule, or none: disclosure.json lists them.'
  if (since === null) return [`The newest date, and perhaps earlier ones, were ${others}`]
  return since > start_date ? [`This holds for all dates from ${since} on. Earlier ones may have been ${others}`] : []
}

function exemptions({ exempt }: RuleStatement): string[] {
  const notes = exempt.map((note) => note.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, ''))
  return notes.length === 0 ? [] : [`Some usage belongs to no customer and is not protected: ${notes.join('; ')}.`]
}
