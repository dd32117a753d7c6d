/** The rules of the ranking (docs/specification.md): what a date's rows are and in which order they stand. */
import { describe, expect, it } from 'vitest'
import { crowd, publish } from '../../support/pipeline.ts'

const NOON = 'T12:00:00Z'

describe('rule 1: up to 51 rows for each UTC date, the top 50 and their aggregate', () => {
  it('names the 50 largest models and sums every model outside them in `other`', async () => {
    const { rows } = await publish(crowd(53, (index) => 1000 - index))
    expect(rows).toHaveLength(51)
    expect(rows[0]).toBe('2025-03-02 crowd/model-001 1000')
    expect(rows[49]).toBe('2025-03-02 crowd/model-050 951')
    expect(rows[50]).toBe(`2025-03-02 other ${950 + 949 + 948}`)
  })

  it('ranks by the sum of a date, not by the largest record', async () => {
    const records = [
      { model_permaslug: 'acme/one-large', prompt_tokens: '100' },
      ...Array.from({ length: 11 }, () => ({ model_permaslug: 'acme/many-small', prompt_tokens: '10' })),
    ]
    const { rows } = await publish(records)
    expect(rows).toEqual(['2025-03-02 acme/many-small 110', '2025-03-02 acme/one-large 100'])
  })

  it('ranks each date separately: a model may be named on one date and part of `other` on the next', async () => {
    const { rows } = await publish([
      ...crowd(51, (index) => 1000 - index, '2025-03-02'),
      ...crowd(51, (index) => 1000 + index, '2025-03-03'),
    ])
    expect(rows).toHaveLength(102)
    expect(rows[0]).toBe('2025-03-02 crowd/model-001 1000')
    expect(rows[50]).toBe('2025-03-02 other 950')
    expect(rows[51]).toBe('2025-03-03 crowd/model-051 1050')
    expect(rows[101]).toBe('2025-03-03 other 1000')
  })
})

describe('rule 2: `other` is omitted when no model is outside the top 50', () => {
  it('has `other` with 51 models, but not with 1, 2 or 50, separately for each date', async () => {
    const { rows } = await publish([
      ...crowd(1, () => 5, '2025-03-02'),
      ...crowd(50, (index) => 100 - index, '2025-03-03'),
      ...crowd(51, (index) => 100 - index, '2025-03-04'),
      ...crowd(2, () => 1, '2025-03-05'),
    ])
    const counts = Map.groupBy(rows, (row) => row.slice(0, '2025-03-02'.length))
    expect([...counts].map(([date, ofDate]) => [date, ofDate.length])).toEqual([
      ['2025-03-02', 1],
      ['2025-03-03', 50],
      ['2025-03-04', 51],
      ['2025-03-05', 2],
    ])
    expect(rows[0]).toBe('2025-03-02 crowd/model-001 5')
    expect(rows.filter((row) => row.includes(' other '))).toEqual(['2025-03-04 other 50'])
    expect(counts.get('2025-03-04')?.at(-1)).toBe('2025-03-04 other 50')
  })
})

describe('rule 3: by date ascending, then total_tokens descending, `other` last within its date', () => {
  it('orders dates ascending, whatever the order of the records', async () => {
    const dates = ['2025-03-04', '2025-02-28', '2025-03-01', '2025-03-03', '2025-01-31']
    const { rows } = await publish(
      dates.map((date) => ({ timestamp: date + NOON, model_permaslug: 'a', prompt_tokens: '1' })),
    )
    expect(rows).toEqual(dates.toSorted().map((date) => `${date} a 1`))
  })

  it('orders tokens as numbers, not as text', async () => {
    const counts = ['9', '10', '100', '99', '1000']
    const { rows } = await publish(counts.map((count) => ({ model_permaslug: `m/${count}`, prompt_tokens: count })))
    expect(rows.map((row) => row.split(' ')[2])).toEqual(['1000', '100', '99', '10', '9'])
  })

  it('puts `other` last even when it is the largest row of its date, or equals a model whose name sorts after it', async () => {
    const zoo = Array.from({ length: 51 }, (_, index) => ({
      timestamp: `2025-03-03${NOON}`,
      model_permaslug: `zoo/${String(index).padStart(2, '0')}`,
      prompt_tokens: '5',
    }))
    const { rows } = await publish([...crowd(100, (index) => (index < 50 ? 20 : 19), '2025-03-02'), ...zoo])
    expect(rows).toHaveLength(102)
    expect(rows.slice(49, 51)).toEqual(['2025-03-02 crowd/model-050 20', `2025-03-02 other ${50 * 19}`])
    expect(rows.slice(100)).toEqual(['2025-03-03 zoo/49 5', '2025-03-03 other 5'])
  })
})

describe('rule 4: ties are broken alphabetically by model_permaslug', () => {
  it('orders equal totals by slug', async () => {
    const slugs = ['b/two', 'a/two', 'a/one', 'b/one', 'a/one-more']
    const { rows } = await publish(slugs.map((slug) => ({ model_permaslug: slug, prompt_tokens: '3' })))
    expect(rows.map((row) => row.split(' ')[1])).toEqual(['a/one', 'a/one-more', 'a/two', 'b/one', 'b/two'])
  })
})
