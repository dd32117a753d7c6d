import { z } from 'zod'
import { UtcDate } from './utc-date.ts'

/**
 * When a cell, which is what one published number is the sum of, is safe: at least `min_contributors` have tokens, and
 * what all but the largest two have is at least `p_percent` of the largest (Hundepool et al., Statistical Disclosure
 * Control, chapter 4).
 */
export const DisclosureRule = z.strictObject({
  min_contributors: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(5)
    .describe('How many customers must have a part in a published number.'),
  p_percent: z
    .int()
    .min(1)
    .max(100)
    .default(10)
    .describe('The second largest customer must not be able to estimate the largest to within this many percent.'),
})
export type DisclosureRule = z.infer<typeof DisclosureRule>

export const DEFAULT_RULE: DisclosureRule = DisclosureRule.parse({})

/** The key `disclosure` of the sources file, if it is a rule. */
export const DisclosureSettings = DisclosureRule.extend({
  publish_after_days: z
    .int()
    .min(0)
    .max(366)
    .default(3)
    .describe('How many days after its end a date is published. From then on it does not change.'),
  revise: z.literal('never').default('never').describe('Published dates never change.'),
})
export type DisclosureSettings = z.infer<typeof DisclosureSettings>

/** Whom a rule protects: the customers that records name, or what they have instead: end users that callers name, or API keys. */
export const Protected = z.enum(['customers', 'end_users', 'api_keys'])
export type Protected = z.infer<typeof Protected>

/** What a manifest says of a rule in force. Dates keep the rule that they were published under. */
export const RuleStatement = z.object({
  rule: DisclosureSettings,
  /** All dates from this one on were published under this rule, earlier ones perhaps not; null: the newest date was not. */
  since: UtcDate.nullable(),
  protects: z.array(Protected),
  /** Why some usage belongs to no customer. */
  exempt: z.array(z.string()),
})
export type RuleStatement = z.infer<typeof RuleStatement>

/** Whom a rule protects, and whom not. */
export type Protection = Pick<RuleStatement, 'protects' | 'exempt'>

/** What a manifest says of disclosure control: that there was none, or the rule. */
export const DisclosureStatement = z.union([z.literal('none'), RuleStatement])
export type DisclosureStatement = z.infer<typeof DisclosureStatement>

/** The rule that a manifest states, if a rule was in force. */
export function ruleOf(statement: DisclosureStatement | undefined): DisclosureSettings | undefined {
  return statement === undefined || statement === 'none' ? undefined : statement.rule
}

/** The rule in one line, such as `min_contributors=5; p_percent=10; publish_after_days=3`; undefined without one. */
export function ruleInLine(statement: DisclosureStatement | undefined): string | undefined {
  const rule = ruleOf(statement)
  if (rule === undefined) return undefined
  const { min_contributors, p_percent, publish_after_days } = rule
  return `min_contributors=${min_contributors}; p_percent=${p_percent}; publish_after_days=${publish_after_days}`
}

/** A count as a band: exact counts of what is not published could tell about customers. */
export const Band = z.string().regex(/^(fewer than 10|[1-9]0* to 9+)$/)
export type Band = z.infer<typeof Band>

/** `fewer than 10`, `10 to 99`, `100 to 999` … */
export function bandOf(count: number): Band {
  if (count < 10) return 'fewer than 10'
  const low = 10 ** (String(count).length - 1)
  return `${low} to ${low * 10 - 1}`
}
