import { expect, it } from 'vitest'
import type { RuleStatement } from '../../pipeline/contract/disclosure.ts'
import { refuseLooser, refuseOtherContributors } from '../../pipeline/dataset/looser-disclosure.ts'

const BEFORE: RuleStatement = {
  rule: { min_contributors: 5, p_percent: 10, publish_after_days: 3, revise: 'never' },
  since: '2025-03-01',
  protects: ['customers'],
  exempt: ['Our own tests.'],
}

function refused(now: Partial<RuleStatement> | undefined, accepted: string[] = []): string | undefined {
  const statement = now && { ...BEFORE, since: null, ...now }
  return refuseLooser(BEFORE, statement, { release: '20250304T120000Z', accepted })
}

it.each([
  [{ rule: { ...BEFORE.rule, min_contributors: 3 } }, 'min_contributors was 5, and is 3'],
  [{ rule: { ...BEFORE.rule, p_percent: 9 } }, 'p_percent was 10, and is 9'],
  [
    { protects: ['customers' as const, 'api_keys' as const] },
    'it protected customers, and now API keys for some sources',
  ],
  [{ exempt: ['Our own tests.', 'A partner.'] }, 'usage is exempt that was not: "A partner."'],
  [undefined, 'the rule was min_contributors 5, p_percent 10, and now there is none'],
])('names what a looser rule loses: %o', (now, finding) => {
  expect(refused(now)).toContain(`less than in release 20250304T120000Z; nothing was published\n  ${finding}\n`)
  expect(refused(now, ['looser_disclosure'])).toBeUndefined()
})

it.each([
  [{}],
  [{ rule: { min_contributors: 6, p_percent: 11, publish_after_days: 0, revise: 'never' as const } }],
  [{ exempt: [] }],
])('lets a rule that protects as much pass: %o', (now) => {
  expect(refused(now)).toBeUndefined()
})

it('names sources that became exempt, or of which another column says whose usage it is', () => {
  const before = { gateway: '["column","canonical",null]', own: '["exempt"]' }
  const find = (now: Record<string, string>, accepted: string[] = []) => refuseOtherContributors(before, now, accepted)
  expect(find({ ...before, gateway: '["exempt"]' })).toContain(
    'source "gateway": was ["column","canonical",null], and is',
  )
  expect(find({ ...before, gateway: '["exempt"]' }, ['looser_disclosure'])).toBeUndefined()
  expect(find({ ...before, other: '["exempt"]' })).toContain('source "other": was not there, and is ["exempt"]')
  expect(find({ gateway: before.gateway, other: before.gateway })).toBeUndefined()
})
