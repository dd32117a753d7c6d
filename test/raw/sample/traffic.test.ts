import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, daysBetween, toUtcDate } from '../../../pipeline/contract/utc-date.ts'
import { modelsBetween } from '../../../pipeline/raw/sample/models.ts'
import { type Request, requestsOf } from '../../../pipeline/raw/sample/traffic.ts'

const OPTIONS = { seed: 1, requestsPerDay: 2000 }
const THURSDAY = '2026-11-19'

const week = Array.from({ length: 7 }, (_, index) => addDays(THURSDAY, -index))
const ofWeek = week.map((day) => requestsOf(day, OPTIONS))
const requests = ofWeek.flat()

function share(isOne: (request: Request) => boolean): number {
  return requests.filter(isOne).length / requests.length
}

function tokensByModel(list: readonly Request[]): Map<string, number> {
  const tokens = new Map<string, number>()
  for (const { slug, promptTokens, completionTokens } of list) {
    tokens.set(slug, (tokens.get(slug) ?? 0) + promptTokens + completionTokens)
  }
  return tokens
}

describe('traffic of a day', () => {
  test('is the same for the same seed, and differs for another', () => {
    expect(requestsOf(THURSDAY, OPTIONS)).toEqual(ofWeek[0])
    expect(requestsOf(THURSDAY, { ...OPTIONS, seed: 2 })).not.toEqual(ofWeek[0])
  })

  test('has only instants of that day, in order, and unique ids', () => {
    const good = (ofWeek[0] ?? []).filter((request) => !Number.isNaN(request.instant))
    expect(new Set(good.map((request) => toUtcDate(new Date(request.instant))))).toEqual(new Set([THURSDAY]))
    expect(good.map((request) => request.instant)).toEqual(good.map((request) => request.instant).sort((a, b) => a - b))
    expect(new Set(requests.map((request) => request.id)).size).toBe(requests.length)
  })

  test('has small shares of late, duplicate, private, unregistered and invalid records', () => {
    const families = new Map(modelsBetween(addDays(THURSDAY, -6), THURSDAY).map((model) => [model.slug, model.family]))
    const shares = {
      late: [share(({ delays }) => (delays[0] ?? 0) > 0), 0.02, 0.04],
      duplicate: [share(({ delays }) => delays.length === 2), 0.01, 0.02],
      optedOut: [share(({ isPrivate }) => isPrivate), 0.002, 0.01],
      private: [share(({ slug }) => families.get(slug)?.visibility === 'private'), 0.01, 0.06],
      unregistered: [share(({ slug }) => families.get(slug)?.visibility === 'unregistered'), 0.001, 0.015],
      invalid: [
        share(({ slug, instant, promptTokens }) => slug === '' || promptTokens < 0 || !(instant > 0)),
        0,
        0.001,
      ],
      edge: [share(({ source }) => source === 'edge'), 0.15, 0.25],
      byok: [share(({ isByok }) => isByok), 0.01, 0.2],
      failed: [share(({ status }) => status !== 'ok'), 0.02, 0.06],
    } as const
    for (const [what, [value, low, high]] of Object.entries(shares)) {
      expect(value, what).toBeGreaterThan(low)
      expect(value, what).toBeLessThan(high)
    }
  })

  test('ranks more than 60 public models on any day from 2025 to 2040', () => {
    const day = fc
      .integer({ min: 0, max: daysBetween('2025-01-01', '2040-12-31') })
      .map((n) => addDays('2025-01-01', n))
    fc.assert(
      fc.property(day, (date) => {
        const open = modelsBetween(date, date).filter((model) => model.family.visibility === 'public')
        const used = tokensByModel(requestsOf(date, OPTIONS))
        expect(open.filter((model) => (used.get(model.slug) ?? 0) > 0).length).toBeGreaterThan(60)
      }),
      { numRuns: 20 },
    )
  })
})
