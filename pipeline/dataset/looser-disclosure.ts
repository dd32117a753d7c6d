import type { DisclosureStatement, Protected, RuleStatement } from '../contract/disclosure.ts'

/** The name that `--accept` takes to publish under a looser disclosure rule than before, or under none. */
export const LOOSER_DISCLOSURE = 'looser_disclosure'

/** The name that `--accept` takes to go on without the list of the dates that were published. */
export const LOST_DISCLOSURE = 'lost_disclosure'

/** In what a disclosure rule protects less than that of the current release; undefined if in nothing, or if accepted. */
export function refuseLooser(
  before: DisclosureStatement | undefined,
  now: RuleStatement | undefined,
  { release, accepted }: { release: string; accepted: readonly string[] },
): string | undefined {
  if (accepted.includes(LOOSER_DISCLOSURE)) return undefined
  const differences = looserIn(before, now)
  if (differences.length === 0) return undefined
  return (
    `"disclosure" protects customers less than in release ${release}; nothing was published\n` +
    `${differences.map((each) => `  ${each}`).join('\n')}\n` +
    'dates that were published keep their rows; to publish further ones so, run: ' +
    `tokenboard build --accept ${LOOSER_DISCLOSURE}`
  )
}

/** In what a statement protects less than the one before it; empty if in nothing. */
export function looserIn(before: DisclosureStatement | undefined, now: DisclosureStatement | undefined): string[] {
  if (before === undefined || before === 'none') return []
  return now === undefined || now === 'none' ? [withoutRule(before)] : compare(before, now)
}

/**
 * The sources of which something else says whose usage they are than at the last build under a rule, or that are exempt now:
 * a column of users has more names than one of customers. Undefined if there are none, or if that is accepted.
 */
export function refuseOtherContributors(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
  accepted: readonly string[],
): string | undefined {
  if (accepted.includes(LOOSER_DISCLOSURE)) return undefined
  const changed = Object.entries(now).filter(
    ([name, fact]) => before[name] !== fact && (name in before || fact === '["exempt"]'),
  )
  if (changed.length === 0) return undefined
  const named = changed.map(
    ([name, fact]) => `  source ${JSON.stringify(name)}: was ${before[name] ?? 'not there'}, and is ${fact}`,
  )
  return (
    'what says whose usage it is has changed, so customers may be protected less; nothing was published\n' +
    `${named.join('\n')}\nif each of them is protected as before, or need not be, run: tokenboard build --accept ${LOOSER_DISCLOSURE}`
  )
}

function withoutRule({ rule: { min_contributors, p_percent } }: RuleStatement): string {
  return `the rule was min_contributors ${min_contributors}, p_percent ${p_percent}, and now there is none`
}

const inWords = (unit: Protected) => ({ customers: 'customers', end_users: 'end users', api_keys: 'API keys' })[unit]

function compare(before: RuleStatement, now: RuleStatement): string[] {
  const numbers = (['min_contributors', 'p_percent'] as const)
    .filter((key) => now.rule[key] < before.rule[key])
    .map((key) => `${key} was ${before.rule[key]}, and is ${now.rule[key]}`)
  const units = now.protects.filter((unit) => unit !== 'customers' && !before.protects.includes(unit))
  const exempt = now.exempt.filter((note) => !before.exempt.includes(note))
  return [
    ...numbers,
    ...units.map((unit) => {
      return `it protected ${before.protects.map(inWords).join(' and ') || 'nobody'}, and now ${inWords(unit)} for some sources`
    }),
    ...exempt.map((note) => `usage is exempt that was not: ${JSON.stringify(note)}`),
  ]
}
