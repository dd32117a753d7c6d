import { expect, it } from 'vitest'
import type { RuleStatement } from '../../pipeline/contract/disclosure.ts'
import { refuseLooser } from '../../pipeline/dataset/looser-disclosure.ts'

const BEFORE: RuleStatement = {
  rule: { min_contributors: 5, p_percent: 10, publish_after_days: 3, revise: 'never' },
  since: '2025-03-01',
  protects: ['customers'],
  exempt: ['Our own tests.'],
}

function refused(now: Partial<RuleStatement> | 'none' | undefined, accepted: string[] = []): string | undefined {
  const statement = typeof now === 'object' ? { ...BEFORE, since: null, ...now } : now
  return refuseLooser(BEFORE, statement, { release: '20250304T120000Z', accepted })
}

it.each([
  [{ rule: { ...BEFORE.rule, min_contributors: 3 } }, 'min_contributors was 5, and is 3'],
  [{ rule: { ...BEFORE.rule, p_percent: 9 } }, 'p_percent was 10, and is 9'],
  [{ protects: ['customers', 'api_keys'] as const }, 'it protected customers, and now API keys for some sources'],
  [{ exempt: ['Our own tests.', 'A partner.'] }, 'usage is exempt that was not: "A partner."'],
  ['none' as const, 'the rule was min_contributors 5, p_percent 10, and there is none: "disclosure": "none"'],
  [undefined, 'the rule was min_contributors 5, p_percent 10, and there is none in the sources file'],
])('names what a looser rule loses: %o', (now, finding) => {
  const given = typeof now === 'object' && 'protects' in now ? { ...now, protects: [...now.protects] } : now
  expect(refused(given)).toContain(`less than in release 20250304T120000Z; nothing was published\n  ${finding}\n`)
  expect(refused(given, ['looser_disclosure'])).toBeUndefined()
})

it.each([
  [{}],
  [{ rule: { min_contributors: 6, p_percent: 11, publish_after_days: 0, revise: 'never' as const } }],
  [{ exempt: [] }],
])('lets a rule that protects as much pass: %o', (now) => {
  expect(refused(now)).toBeUndefined()
})
