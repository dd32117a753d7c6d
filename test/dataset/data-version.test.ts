/** Versions of the data against a plain oracle of the rule (docs/data-dictionary.md). */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changeLog } from '../../pipeline/contract/change-log.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { addDays, daysBetween, type UtcDate } from '../../pipeline/contract/utc-date.ts'
import { nextVersion } from '../../pipeline/dataset/data-version.ts'
import { copyWorkspace, createWorkspace, removeWorkspace, type Workspace, withdrawIn } from '../support/pipeline.ts'
import { tries } from '../support/property.ts'
import { release, type Use, verifyFolder } from '../support/releases.ts'
import { editManifest, relistReleases } from '../support/reseal.ts'
import { indexOf, releaseEntry } from '../support/site.ts'

/** A release of one model: its tokens by date. */
interface Told {
  asOf: UtcDate
  tokens: Record<UtcDate, number>
  isSchemaNew?: boolean
  isWithdrawn?: boolean
}

const FIRST_DAY = '2025-03-01'

function rowsOf({ tokens }: Told): RankingRow[] {
  const dates = Object.keys(tokens).sort()
  return dates.map((date) => ({ date, model_permaslug: 'a', total_tokens: String(tokens[date]) }))
}

function endOf(release: Told): UtcDate {
  return Object.keys(release.tokens).sort().at(-1) ?? ''
}

/** The versions that the program gives, release by release; a withdrawn one is withdrawn before the next is made. */
function versionsOf(history: readonly Told[]): string[] {
  const entries: ReturnType<typeof releaseEntry>[] = []
  for (const [position, release] of history.entries()) {
    const standing = history.slice(0, position).findLastIndex(({ isWithdrawn = false }) => !isWithdrawn)
    const before = history[standing]
    const data_version = nextVersion(indexOf(entries), entries[standing], {
      facts: release.isSchemaNew === true ? ['schema'] : ['content_hash'],
      changes: { daily: changeLog(before === undefined ? [] : rowsOf(before), rowsOf(release)) },
    })
    const as_of = `${release.asOf}T01:00:00Z`
    const name = as_of.replaceAll(/[-:]/g, '')
    entries.push(releaseEntry(endOf(release), { as_of, release: name, data_version }))
  }
  return entries.map(({ data_version }) => data_version)
}

/** What a release calls a date, in the words of the rule. */
function calledBy(release: Told, date: UtcDate): 'final' | 'provisional' | 'missing' | undefined {
  if (date > endOf(release)) return undefined
  if (release.tokens[date] === undefined) return 'missing'
  return daysBetween(date, release.asOf) > 3 ? 'final' : 'provisional'
}

function expectedVersions(history: readonly Told[]): string[] {
  let version = [1, 0, 0]
  return history.map((release, position) => {
    const before = history.slice(0, position).findLast(({ isWithdrawn = false }) => !isWithdrawn)
    const [major = 0, minor = 0, patch = 0] = version
    if (before !== undefined) {
      const dates = [...new Set([...Object.keys(before.tokens), ...Object.keys(release.tokens)])]
      const changed = dates.filter((date) => before.tokens[date] !== release.tokens[date])
      const breaks = changed.some((date) => {
        const called = calledBy(before, date)
        return called === 'final' || (called === 'missing' && daysBetween(date, before.asOf) > 3)
      })
      if (breaks || release.isSchemaNew === true) version = [major + 1, 0, 0]
      else if (changed.some((date) => date > endOf(before))) version = [major, minor + 1, 0]
      else version = [major, minor, patch + 1]
    }
    return version.join('.')
  })
}

/** A week of dates, any of them without usage but for one, built a few days after the first ones. */
const told = fc
  .tuple(
    fc.array(fc.constantFrom(undefined, undefined, 1, 2), { minLength: 7, maxLength: 7 }),
    fc.integer({ min: 0, max: 6 }),
    fc.integer({ min: 0, max: 4 }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([days, sure, pause, isWithdrawn, isRare]) => ({
    days,
    sure,
    pause,
    isWithdrawn,
    isSchemaNew: isWithdrawn && isRare,
  }))

const histories = fc.array(told, { minLength: 1, maxLength: 8 }).map((steps) => {
  let asOf = addDays(FIRST_DAY, 1)
  return steps.map(({ days, sure, pause, isWithdrawn, isSchemaNew }, position): Told => {
    asOf = addDays(asOf, pause)
    const dates = days.map((tokens, day): [UtcDate, number | undefined] => [addDays(FIRST_DAY, day), tokens])
    const known = dates.flatMap(([date, tokens]): [UtcDate, number][] =>
      tokens === undefined || date >= asOf ? [] : [[date, tokens]],
    )
    const always: [UtcDate, number] = [addDays(FIRST_DAY, Math.min(sure, daysBetween(FIRST_DAY, asOf) - 1)), 1]
    // The first release always stands: something has to be current.
    const isGone = isWithdrawn && position > 0
    return { asOf, tokens: Object.fromEntries([...known, always]), isWithdrawn: isGone, isSchemaNew }
  })
})

describe('the data_version', () => {
  const { options, timeout_ms } = tries({ share: 100 })
  it('follows the rule for any history of releases and withdrawals', { timeout: timeout_ms }, () => {
    const property = fc.property(histories, (history) => {
      expect(versionsOf(history)).toEqual(expectedVersions(history))
    })
    fc.assert(property, options)
  })

  it('is 1.5.0 after five ordinary days, with late logs on each', () => {
    const days = Array.from({ length: 6 }, (_, day): Told => {
      const dates = Array.from({ length: 10 + day }, (_each, at) => addDays(FIRST_DAY, at))
      const asOf = addDays(FIRST_DAY, 10 + day)
      // A date has all its logs once it is final.
      const tokens = Object.fromEntries(dates.map((date) => [date, Math.min(daysBetween(date, asOf), 3)]))
      return { asOf, tokens }
    })
    expect(versionsOf(days)).toEqual(['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0'])
  })

  it.each([
    ['2.0.0', 'a final week', 'weekly', '2025-03-03'],
    ['1.0.1', 'a provisional week', 'weekly', '2025-03-10'],
    ['1.0.1', 'the week of the last date, if dates of it are to come', 'weekly', '2025-03-17'],
    ['2.0.0', 'a final month', 'monthly', '2025-02-01'],
    ['1.0.1', 'a provisional month', 'monthly', '2025-03-01'],
  ] as const)('is %s after 1.0.0 when %s changes without a day', (version, _what, table, date) => {
    const previous = releaseEntry('2025-03-18', { as_of: '2025-03-19T00:12:00Z' })
    const tokens = { model_permaslug: 'a', tokens_before: '5', tokens_after: '6', days_before: '7', days_after: '7' }
    const changes = { daily: [], [table]: [{ op: 'update', date, ...tokens }] }
    const facts = [`${table}_content_hash`]
    expect(nextVersion(indexOf([previous]), previous, { facts, changes })).toBe(version)
  })
})

const [SECOND, THIRD] = ['20250310T110000Z', '20250310T120000Z']

describe('verify', () => {
  let original: Workspace

  /** Three releases, each with another number for a provisional date. */
  beforeAll(async () => {
    original = await createWorkspace()
    for (const [position, tokens] of [5, 6, 7].entries()) {
      const uses: Use[] = [['2025-03-02', 1], ['2025-03-09', tokens]] // biome-ignore format: rows
      await release(original, uses, `2025-03-10T1${position}:00:00Z`)
    }
  })

  afterAll(() => removeWorkspace(original))

  it('names a release whose version does not follow from its changes, also after a withdrawn one', async () => {
    const workspace = await copyWorkspace(original)
    await editManifest(workspace, SECOND, (manifest) => ({ ...manifest, data_version: '1.1.0' }))
    await relistReleases(workspace)
    await expect(verifyFolder(workspace.publicDir)).rejects.toThrow(
      `the data_version of ${SECOND} is 1.1.0 in its manifest and 1.1.0 in the index, but by its changes it is 1.0.1`,
    )
    const other = await copyWorkspace(original)
    await withdrawIn(other, SECOND, '2025-03-10T13:00:00Z')
    await editManifest(other, THIRD, (manifest) => ({ ...manifest, data_version: '2.0.0' }))
    await relistReleases(other)
    await expect(verifyFolder(other.publicDir)).rejects.toThrow(`the data_version of ${THIRD} is 2.0.0`)
  })

  it('names a release that claims another schema without having one', async () => {
    const workspace = await copyWorkspace(original)
    await editManifest(workspace, THIRD, ({ changes, ...manifest }) => {
      return { ...manifest, data_version: '2.0.0', changes: { ...changes, facts: ['schema'] } }
    })
    await relistReleases(workspace)
    await expect(verifyFolder(workspace.publicDir)).rejects.toThrow(
      `${THIRD} says that its schema is another, but it is not`,
    )
  })
})
