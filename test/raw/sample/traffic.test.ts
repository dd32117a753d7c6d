/** What the sample has on any day; the golden tree of its build has every number of one. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays, daysBetween, toUtcDate } from '../../../pipeline/contract/utc-date.ts'
import { modelsBetween } from '../../../pipeline/raw/sample/models.ts'
import { requestsOf } from '../../../pipeline/raw/sample/traffic.ts'

const REAL_NAMES =
  /openai|gpt|anthropic|claude|google|gemini|gemma|meta-|llama|mistral|mixtral|deepseek|qwen|xai|grok|cohere|command|nvidia|nemotron|microsoft|\bphi|amazon|nova|titan|alibaba|moonshot|kimi|zhipu|glm|minimax|perplexity|sonar|inflection|ai21|jamba|databricks|baidu|ernie|tencent|hunyuan|bytedance|apple|ibm|granite|liquid|hermes/i

const OPTIONS = { seed: 1, requestsPerDay: 2000 }

const anyDay = fc
  .integer({ min: 0, max: daysBetween('2025-01-01', '2040-12-31') })
  .map((days) => addDays('2025-01-01', days))

test('any 90 days from 2025 to 2040 have 150 to 200 models, and their last more than 60 public ones with tokens', () => {
  fc.assert(
    fc.property(anyDay, (last) => {
      const first = addDays(last, -89)
      const models = modelsBetween(first, last)
      expect(models.length).toBeGreaterThan(150)
      expect(models.length).toBeLessThan(200)
      expect(models.filter(({ launch }) => launch > first).length).toBeGreaterThan(10)
      expect(models.filter(({ retirement }) => retirement <= last).length).toBeGreaterThan(10)
      const isPublic = new Map(models.map(({ slug, family }) => [slug, family.visibility === 'public']))
      const used = requestsOf(last, OPTIONS).filter((each) => each.promptTokens > 0 && isPublic.get(each.slug))
      expect(new Set(used.map(({ slug }) => slug)).size).toBeGreaterThan(60)
    }),
    { numRuns: 20 },
  )
})

test('the requests of a day have only instants of that day, in order, and are the same for the same seed', () => {
  const day = '2026-11-19'
  const requests = requestsOf(day, OPTIONS)
  const instants = requests.map(({ instant }) => instant).filter((instant) => !Number.isNaN(instant))
  expect(new Set(instants.map((instant) => toUtcDate(new Date(instant))))).toEqual(new Set([day]))
  expect(instants).toEqual(instants.toSorted((a, b) => a - b))
  expect(new Set(requests.map(({ id }) => id)).size).toBe(requests.length)
  expect(requestsOf(day, OPTIONS)).toEqual(requests)
  expect(requestsOf(day, { ...OPTIONS, seed: 2 })).not.toEqual(requests)
})

test('no vendor and no model is a real one', () => {
  const names = modelsBetween('2024-01-01', '2027-01-01').map(({ slug, name }) => `${slug} ${name}`)
  expect(names.filter((name) => REAL_NAMES.test(name))).toEqual([])
})
