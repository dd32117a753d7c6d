/** Releases under a disclosure rule, one after the other: what is published, and what never changes again. */
import { expect, it } from 'vitest'
import { newRuledGateway, RULE, SAFE } from '../support/ruled-gateway.ts'

it('names what is safe, sums the rest, and publishes a date once', async () => {
  const gateway = await newRuledGateway()
  await gateway.deliver('2025-03-01', { 'v/big': SAFE, 'v/solo': { anna: 7 }, 'v/pair': { ben: 6, cleo: 5, dora: 4 } })
  await gateway.deliver('2025-03-02', { 'v/solo': { anna: 100 } })
  await gateway.deliver('2025-03-03', { 'v/big': SAFE })
  const first = ['2025-03-01 v/big 60', '2025-03-01 other 22']
  expect(await gateway.build('2025-03-04')).toEqual(first)
  expect(await gateway.days()).toEqual(['2025-03-01 final', '2025-03-02 not_published'])
  const statement = { rule: { ...RULE, revise: 'never' }, since: '2025-03-01', protects: ['customers'], exempt: [] }
  expect(await gateway.manifest()).toMatchObject({
    end_date: '2025-03-02',
    provisional_from: '2025-03-03',
    disclosure: statement,
  })
  expect(await gateway.disclosure()).toEqual({
    dataset: 'rankings-daily',
    release: '20250304T120000Z',
    as_of: '2025-03-04T12:00:00Z',
    synthetic: false,
    ...statement,
    periods: [{ start_date: '2025-03-01', end_date: '2025-03-01', rule: statement.rule }],
    joined_cells: 'fewer than 10',
    dates_not_published: 'fewer than 10',
  })

  // Late records, an opt-out and a date that becomes safe.
  await gateway.deliver('2025-03-01', { 'v/big': { ben: 20, cleo: 10 }, 'v/late': SAFE })
  await gateway.deliver('2025-03-02', { 'v/solo': { anna: 100, ben: 90, cleo: 80 } })
  const second = [...first, '2025-03-02 v/solo 270', '2025-03-03 v/big 60']
  expect(await gateway.build('2025-03-05')).toEqual(second)
  expect(await gateway.days()).toEqual(['2025-03-01 final', '2025-03-02 final', '2025-03-03 final'])
  await gateway.verify()
  await gateway.startFromNothing()
  expect(await gateway.build('2025-03-06')).toEqual(second)
})
