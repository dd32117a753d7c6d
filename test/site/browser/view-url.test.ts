import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BY,
  DEFAULT_VIEW,
  FORMS,
  GROUPS,
  MEASURES,
  ORDERS,
  PRESETS,
  type View,
} from '../../../pipeline/site/browser/explore/view.ts'
import { fromQuery, toQuery } from '../../../pipeline/site/browser/explore/view-url.ts'
import { addDays } from '../../../pipeline/site/chart/calendar.ts'
import { tries } from '../../support/property.ts'

const { options } = tries({ share: 20 })
const date = fc.integer({ min: 0, max: 2000 }).map((days) => addDays('2025-01-01', days))
const text = fc.string({ unit: 'binary', maxLength: 40 })
const names = fc.uniqueArray(
  text.filter((name) => name !== ''),
  { maxLength: 12 },
)
const view: fc.Arbitrary<View> = fc.record({
  window: fc.oneof(
    fc.constantFrom(...PRESETS).map((days) => ({ days })),
    fc.tuple(date, fc.nat(400)).map(([from, days]) => ({ from, to: addDays(from, days) })),
  ),
  of: fc.constantFrom(...GROUPS),
  names,
  by: fc.constantFrom(...BY),
  show: fc.constantFrom(...MEASURES),
  as: fc.constantFrom(...FORMS),
  isLog: fc.boolean(),
  rest: fc.constantFrom(undefined, true, false),
  hidden: names,
  order: fc.constantFrom(undefined, ...ORDERS),
  search: text,
  page: fc.integer({ min: 1, max: 999_999 }),
  release: fc.constantFrom(undefined, '20261120T060000Z'),
})

describe('the URL of a view of the explorer', () => {
  test('contains the whole view, whatever models are called', () => {
    fc.assert(
      fc.property(view, (wanted) => {
        expect(fromQuery(toQuery(wanted))).toEqual({ view: wanted, notices: [] })
      }),
      options,
    )
  })

  test('is empty for the default view, and leaves out defaults', () => {
    expect(toQuery(DEFAULT_VIEW)).toBe('')
    expect(fromQuery('')).toEqual({ view: DEFAULT_VIEW, notices: [] })
    expect(toQuery({ ...DEFAULT_VIEW, by: 'week' })).toBe('by=week')
  })

  test('selects the models that a link names', () => {
    expect(fromQuery('?models=openai%2Fgpt-4o&models=a%20b').view.names).toEqual(['openai/gpt-4o', 'a b'])
  })

  test.each([
    ...'days=7 days= by=year show=money as=pie rest=maybe log=yes of=price release=latest sort=size'.split(' '),
    ...'page=0 page=1e3 page=-1 page=99999999 from=2026-03-02 to=2026-03-02 from=yesterday&to=today'.split(' '),
    ...'from=2026-02-30&to=2026-03-01 from=2026-03-02&to=2026-03-01'.split(' '),
  ])('gives the default and a notice for %s', (query) => {
    const read = fromQuery(query)
    expect(read.view).toEqual(DEFAULT_VIEW)
    expect(read.notices).toHaveLength(1)
  })

  test('keeps valid parts beside invalid ones, and ignores unknown parameters', () => {
    const { view: read, notices } = fromQuery('by=week&show=money&utm_source=x')
    expect(read).toEqual({ ...DEFAULT_VIEW, by: 'week' })
    expect(notices).toEqual(['show=money is none of tokens, share, index; it was left out.'])
  })

  test('can be read whatever text it contains', () => {
    fc.assert(
      fc.property(fc.string(), (query) => {
        const { view: read } = fromQuery(query)
        expect(fromQuery(toQuery(read))).toEqual({ view: read, notices: [] })
      }),
      options,
    )
  })
})
