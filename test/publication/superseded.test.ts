/** Whatever is built and withdrawn, verify accepts it, and a superseded revision that is then lost is never passed over. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { verify } from '../../pipeline/publication/verify.ts'
import { readCoverage, readIndex } from '../support/history.ts'
import {
  buildIn,
  createWorkspace,
  datasetFolder,
  removeWorkspace,
  type Workspace,
  withdrawIn,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { tries } from '../support/property.ts'

const DATES = ['2025-02-27', '2025-02-28', '2025-03-02']

/** A build of these tokens, by date, or the withdrawal of a release that stands, counted from the newest. */
type Step = { tokens: number[] } | { withdrawn: number }

const step = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(...DATES.map(() => fc.integer({ min: 0, max: 2 }))).map((tokens) => ({ tokens })) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 2 }).map((withdrawn) => ({ withdrawn })) },
)

async function take(workspace: Workspace, next: Step, minute: number): Promise<void> {
  const asOf = `2025-03-10T12:${String(minute).padStart(2, '0')}:00Z`
  if ('tokens' in next) {
    const uses = next.tokens.map((count, day) => ({ date: DATES[day], count })).filter(({ count }) => count > 0)
    // A build without any usage publishes nothing.
    const all = uses.length > 0 ? uses : [{ date: DATES[0], count: 1 }]
    const records = all.map(({ date, count }) => ({
      timestamp: `${date}T12:00:00Z`,
      model_permaslug: 'a',
      prompt_tokens: String(count),
    }))
    await writeSmallBuild(workspace, { sources: [{ records }], top: { on_missing: 'remove' } })
    await buildIn(workspace, asOf)
    return
  }
  const standing = (await readIndex(workspace)).releases.filter(({ status }) => status !== 'withdrawn')
  const { release } = standing.toReversed()[next.withdrawn] ?? {}
  if (release !== undefined && standing.length > 1) await withdrawIn(workspace, release, asOf)
}

function prove({ publicDir }: Workspace): ReturnType<typeof verify> {
  return verify(publicDir, { signal: new AbortController().signal, report: () => {}, withPages: false })
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
    const numbers = names.filter((name) => name.endsWith('.csv')).map((name) => name.slice(0, -'.csv'.length))
    return numbers
      .filter((number) => content_hash === null || number !== `r${revision}`)
      .map((name) => `${place}/${name}`)
  })
  return (await Promise.all(revisions)).flat()
}

const { options, timeout_ms } = tries({ share: 1, seed: 7 })

it('is proved, or named', { timeout: timeout_ms }, async () => {
  const histories = fc.asyncProperty(
    fc.array(step, { minLength: 3, maxLength: 8 }),
    fc.nat(),
    async (steps, chosen) => {
      const workspace = await createWorkspace()
      for (const [position, next] of [{ tokens: [1, 1, 1] }, ...steps].entries()) await take(workspace, next, position)
      const { not_verified } = await prove(workspace)
      const all = await supersededRevisions(workspace)
      expect(not_verified.filter((revision) => all.includes(revision))).toEqual([])
      const lost = all[chosen % Math.max(all.length, 1)]
      if (lost !== undefined) {
        for (const form of ['csv', 'json', 'parquet']) {
          await rm(join(datasetFolder(workspace), `${lost}.${form}`), { force: true })
        }
        const found = await prove(workspace).catch((error: unknown) => error)
        const isNamed = 'not_verified' in Object(found) && Object(found).not_verified.includes(lost)
        expect(isNamed || found instanceof Error, `${lost} of ${JSON.stringify(steps)}`).toBe(true)
      }
      await removeWorkspace(workspace)
    },
  )
  await fc.assert(histories, options)
})
