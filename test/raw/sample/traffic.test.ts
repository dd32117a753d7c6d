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

  test('is lower at weekends and at night', () => {
    const countOf = (day: string) => ofWeek[week.indexOf(day)]?.length ?? 0
    expect(countOf('2026-11-14')).toBeLessThan(0.8 * countOf('2026-11-13'))
    expect(countOf('2026-11-15')).toBeLessThan(0.8 * countOf('2026-11-16'))
    const share6Hours = (from: number) =>
      share(({ instant }) => Math.floor((new Date(instant).getUTCHours() - from) / 6) === 0)
    expect(share6Hours(12)).toBeGreaterThan(2 * share6Hours(0))
  })

  test('has few popular models and a long tail, long requests and a few very long ones', () => {
    const tokens = [...tokensByModel(ofWeek[0] ?? []).values()].sort((a, b) => b - a)
    const total = tokens.reduce((sum, each) => sum + each, 0)
    expect(tokens.slice(0, 10).reduce((sum, each) => sum + each, 0) / total).toBeGreaterThan(0.4)
    const prompts = requests.map((request) => request.promptTokens).sort((a, b) => a - b)
    expect(prompts.at(-1)).toBeGreaterThan(20 * (prompts[prompts.length >> 1] ?? 0))
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

  test('has no cost for free models and no completion tokens for embeddings', () => {
    const embeddings = requests.filter((request) => request.slug.includes('-embed-'))
    expect(embeddings.length).toBeGreaterThan(0)
    expect(embeddings.every((request) => request.completionTokens === 0)).toBe(true)
    expect(requests.filter((request) => request.slug.endsWith(':free')).every((request) => request.costUsd === 0)).toBe(
      true,
    )
    expect(requests.every((request) => /^[0-9a-f]{64}$/.test(request.apiKeyHash))).toBe(true)
    expect(new Set(requests.map((request) => request.apiKeyHash)).size).toBe(40)
    expect(new Set(requests.map((request) => `${request.apiKeyHash} ${request.customer}`)).size).toBe(40)
    expect(new Set(requests.map((request) => request.customer)).size).toBe(27)
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

  test('has more tokens in November than in August of every year', () => {
    const total = (day: string) => [...tokensByModel(requestsOf(day, OPTIONS)).values()].reduce((a, b) => a + b, 0)
    expect(total('2026-11-18')).toBeGreaterThan(1.1 * total('2026-08-19'))
    expect(total('2033-11-16')).toBeGreaterThan(1.1 * total('2033-08-17'))
  })
})
