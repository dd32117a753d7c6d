import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, daysBetween } from '../../../pipeline/contract/utc-date.ts'
import { type Model, modelsBetween } from '../../../pipeline/raw/sample/models.ts'

const REAL_NAMES =
  /openai|gpt|anthropic|claude|google|gemini|gemma|meta-|llama|mistral|mixtral|deepseek|qwen|xai|grok|cohere|command|nvidia|nemotron|microsoft|\bphi|amazon|nova|titan|alibaba|moonshot|kimi|zhipu|glm|minimax|perplexity|sonar|inflection|ai21|jamba|databricks|baidu|ernie|tencent|hunyuan|bytedance|apple|ibm|granite|liquid|hermes/i

const lastDay = fc
  .integer({ min: 0, max: daysBetween('2025-01-01', '2040-12-31') })
  .map((n) => addDays('2025-01-01', n))

function isPublic(model: Model): boolean {
  return model.family.visibility === 'public'
}

describe('models of the sample', () => {
  test('any 90 days from 2025 to 2040 have 150 to 200 models, launches and retirements', () => {
    fc.assert(
      fc.property(lastDay, (last) => {
        const first = addDays(last, -89)
        const models = modelsBetween(first, last)
        expect(models.length).toBeGreaterThan(150)
        expect(models.length).toBeLessThan(200)
        expect(models.filter(isPublic).length).toBeGreaterThanOrEqual(120)
        expect(models.filter((model) => model.launch > first).length).toBeGreaterThan(10)
        expect(models.filter((model) => model.retirement <= last).length).toBeGreaterThan(10)
      }),
      { numRuns: 40 },
    )
  })

  test('a slug carries its launch date, and some models are free, private, unregistered or known by an alias', () => {
    const models = modelsBetween('2026-08-22', '2026-11-19')
    for (const { slug, launch } of models) {
      expect(slug).toMatch(/^[a-z]+\/[a-z]+(-[a-z]+)*-\d{8}(:free)?$/)
      expect(slug).toContain(launch.replaceAll('-', ''))
    }
    expect(new Set(models.map((model) => model.family.visibility))).toEqual(
      new Set(['public', 'private', 'unregistered']),
    )
    expect(models.some((model) => model.isFree && isPublic(model))).toBe(true)
    expect(models.some((model) => model.upstreamName !== model.slug)).toBe(true)
  })

  test('no vendor and no model is a real one', () => {
    const names = modelsBetween('2024-01-01', '2027-01-01').map(({ slug, name }) => `${slug} ${name}`)
    expect(names.filter((name) => REAL_NAMES.test(name))).toEqual([])
  })
})
