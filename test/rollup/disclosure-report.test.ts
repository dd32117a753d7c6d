/** What a build without a rule does where the measure itself is wrong. */
import { expect, it, onTestFinished } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import type { Source } from '../../pipeline/raw/sources.ts'
import { assertBalanced } from '../../pipeline/rollup/contributors.ts'
import { measureContributors } from '../../pipeline/rollup/disclosure-report.ts'
import { temporaryFolder } from '../support/folder.ts'
import { RULE } from '../support/ruled-gateway.ts'

it('stops a build for wrong contributions under a rule alone; else it says so, and measures nothing', async () => {
  const { signal } = new AbortController()
  const temporary = await temporaryFolder()
  const database = await Database.open({ path: ':memory:', temporaryFolder: temporary, memoryLimit: undefined, signal })
  onTestFinished(() => database.close())
  await database.run('disclosure/create_contributions')
  await database.run('result/create_rollup')
  await database.append('core_rollup', [['gateway', '2025-03-01', 'a', '5', '1']])
  await database.append('core_contributions', [['2025-03-01', 'a', 'anna', 'false', '3', null]])
  const events: BuildEvent[] = []
  const usageSources = [{ contributors: 'keys' } as Source]
  const measured = measureContributors(database, { usageSources }, '2025-03-01', {
    report: (each) => events.push(each),
  })
  expect(await measured).toBeUndefined()
  const message = 'the contributions to a on 2025-03-01 are not its tokens'
  expect(events).toMatchObject([{ kind: 'notice', message: expect.stringContaining(message) }])
  await assertBalanced(database, { disclosure: undefined })
  await expect(assertBalanced(database, { disclosure: { ...RULE, revise: 'never' } })).rejects.toThrow(message)
})
