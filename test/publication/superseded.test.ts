/** Superseded revisions, against any history of builds and withdrawals, in folders that drop older releases. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readCoverage, readIndex } from '../support/history.ts'
import {
  buildIn,
  createWorkspace,
  datasetFolder,
  removeWorkspace,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { tries } from '../support/property.ts'
import { deliver, type Use, verifyFolder } from '../support/releases.ts'

const DATES = ['2025-02-27', '2025-02-28', '2025-03-02']

/** A build of these tokens, by date, or the withdrawal of a release that stands, counted from the newest. */
type Step = { tokens: number[] } | { withdrawn: number }

const step = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(...DATES.map(() => fc.integer({ min: 0, max: 2 }))).map((tokens) => ({ tokens })) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 2 }).map((withdrawn) => ({ withdrawn })) },
)

async function take(workspace: Workspace, next: Step, minute: number, keep_releases: number): Promise<void> {
  const asOf = `2025-03-10T12:${String(minute).padStart(2, '0')}:00Z`
  if ('tokens' in next) {
    const uses = next.tokens.map((count, day): Use => [DATES[day] ?? '', count]).filter(([, count]) => count > 0)
    // A build without any usage publishes nothing.
    await deliver(workspace, uses.length > 0 ? uses : [[DATES[0] ?? '', 1]], { retention: { keep_releases } })
    await buildIn(workspace, asOf)
    return
  }
  const standing = (await readIndex(workspace)).releases.filter(({ status }) => status !== 'withdrawn')
  const chosen = standing.toReversed()[next.withdrawn]
  if (chosen !== undefined && standing.length > 1) await withdrawIn(workspace, chosen.release, asOf)
}

/** Every superseded revision whose files are there, as `daily/2025-02-28/r1`. */
async function supersededRevisions(workspace: Workspace): Promise<string[]> {
  const { days, months } = await readCoverage(workspace)
  const periods = [
    ...days.map((day) => ({ ...day, place: `daily/${day.date}` })),
    ...months.map((month) => ({ ...month, place: `monthly/${month.month}` })),
  ]
  const revisions = periods.map(async ({ place, revision, content_hash }) => {
    const names = await readdir(join(datasetFolder(workspace), place)).catch(() => [])
    const numbers = names.filter((name) => /\.(json|csv)$/.test(name)).map((name) => name.split('.')[0] ?? '')
    return numbers
      .filter((number) => content_hash === null || number !== `r${revision}`)
      .map((name) => `${place}/${name}`)
  })
  return (await Promise.all(revisions)).flat()
}

const { options, timeout_ms } = tries({ share: 1, seed: 7 })

it('verify accepts any history of builds and withdrawals, and names a superseded revision that is lost later', {
  timeout: timeout_ms,
}, async () => {
  const histories = fc.asyncProperty(
    fc.array(step, { minLength: 3, maxLength: 8 }),
    fc.nat(),
    fc.integer({ min: 1, max: 4 }),
    async (steps, chosen, kept) => {
      const workspace = await createWorkspace()
      for (const [position, next] of [{ tokens: [1, 1, 1] }, ...steps].entries())
        await take(workspace, next, position, kept)
      const { not_verified } = await verifyFolder(workspace.publicDir, { withPages: false })
      const all = await supersededRevisions(workspace)
      expect(not_verified.filter((revision) => all.includes(revision))).toEqual([])
      const lost = all[chosen % Math.max(all.length, 1)]
      if (lost !== undefined) {
        for (const form of ['csv', 'json', 'parquet']) {
          await rm(join(datasetFolder(workspace), `${lost}.${form}`), { force: true })
        }
        const found = await verifyFolder(workspace.publicDir, { withPages: false }).catch((error: unknown) => error)
        const isNamed = 'not_verified' in Object(found) && Object(found).not_verified.includes(lost)
        expect(isNamed || found instanceof Error, `${lost} of ${JSON.stringify(steps)}`).toBe(true)
      }
      await removeWorkspace(workspace)
    },
  )
  await fc.assert(histories, options)
})
