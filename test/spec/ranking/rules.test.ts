/** The rules of the ranking (docs/specification.md): what a date's rows are and in which order they stand. */
import { describe, expect, it } from 'vitest'
import { crowd, publish } from '../../support/pipeline.ts'

const record = (date: string, model_permaslug: string, tokens: number) => {
  return { timestamp: `${date}T12:00:00Z`, model_permaslug, prompt_tokens: `${tokens}` }
}

/** One build of many dates: no ranking reaches beyond its own. */
const RECORDS = [
  ...crowd(53, (index) => 1000 - index, '2025-03-04'),
  ...crowd(53, (index) => 1000 + index, '2025-03-03'),
  ...Array.from({ length: 11 }, () => record('2025-03-02', 'acme/many-small', 10)),
  record('2025-03-02', 'acme/one-large', 100),
  ...crowd(50, (index) => 100 - index, '2025-03-05'),
  ...crowd(51, (index) => 100 - index, '2025-03-06'),
  ...['9', '10', '100', '99', '1000'].map((count) => record('2025-02-28', `m/${count}`, Number(count))),
  ...crowd(100, (index) => (index < 50 ? 20 : 19), '2025-03-07'),
  ...Array.from({ length: 51 }, (_, index) => record('2025-03-08', `zoo/${String(index).padStart(2, '0')}`, 5)),
  ...['b/two', 'a/two', 'a/one', 'b/one', 'a/one-more'].map((slug) => record('2025-01-31', slug, 3)),
]

let built: ReturnType<typeof publish> | undefined

/** The published rows, built by the first test that asks. */
async function rows(): Promise<string[]> {
  built ??= publish(RECORDS)
  return (await built).rows
}

/** The rows of a date as `model tokens`. */
async function on(date: string): Promise<string[]> {
  return (await rows()).filter((row) => row.startsWith(date)).map((row) => row.slice(date.length + 1))
}

describe('rule 1: up to 51 rows for each UTC date, the top 50 and their aggregate', () => {
  it('names the 50 largest models of each date and sums every other model in `other`', async () => {
    expect(await on('2025-03-04')).toHaveLength(51)
    expect((await on('2025-03-04')).slice(0, 1)).toEqual(['crowd/model-001 1000'])
    expect((await on('2025-03-04')).slice(49)).toEqual(['crowd/model-050 951', `other ${950 + 949 + 948}`])
    expect((await on('2025-03-03')).slice(0, 1)).toEqual(['crowd/model-053 1052'])
    expect((await on('2025-03-03')).at(-1)).toBe(`other ${1000 + 1001 + 1002}`)
  })

  it('ranks by the sum of a date, not by the largest record', async () => {
    expect(await on('2025-03-02')).toEqual(['acme/many-small 110', 'acme/one-large 100'])
  })
})

describe('rule 2: `other` is omitted when no model is outside the top 50', () => {
  it('has `other` with 51 models, but not with 2, 5 or 50', async () => {
    for (const [date, size] of Object.entries({ '2025-03-02': 2, '2025-02-28': 5, '2025-03-05': 50, '2025-03-06': 51 }))
      expect(await on(date)).toHaveLength(size)
    expect((await on('2025-03-06')).at(-1)).toBe('other 50')
    expect((await on('2025-03-05')).join()).not.toContain('other')
  })
})

describe('rule 3: by date ascending, then total_tokens descending, `other` last within its date', () => {
  it('orders dates ascending, whatever the order of the records, and tokens as numbers', async () => {
    const dates = (await rows()).map((row) => row.slice(0, 10))
    expect(dates).toEqual(dates.toSorted())
    expect(await on('2025-02-28')).toEqual(['m/1000 1000', 'm/100 100', 'm/99 99', 'm/10 10', 'm/9 9'])
  })

  it('puts `other` last even when it is the largest row of its date, or equals a model whose name sorts after it', async () => {
    expect((await on('2025-03-07')).slice(49)).toEqual(['crowd/model-050 20', `other ${50 * 19}`])
    expect((await on('2025-03-08')).slice(49)).toEqual(['zoo/49 5', 'other 5'])
  })
})

describe('rule 4: ties are broken alphabetically by model_permaslug', () => {
  it('orders equal totals by slug', async () => {
    const slugs = ['a/one', 'a/one-more', 'a/two', 'b/one', 'b/two']
    expect(await on('2025-01-31')).toEqual(slugs.map((slug) => `${slug} 3`))
  })
})
