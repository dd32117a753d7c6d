import { expect, it } from 'vitest'
import { Band, bandOf } from '../../pipeline/contract/disclosure.ts'
import { bandedQuality } from '../../pipeline/dataset/banded-quality.ts'
import { Account } from '../../pipeline/dataset/quality.ts'
import { countRecords } from '../../pipeline/dataset/records.ts'
import type { Excluded } from '../../pipeline/raw/records.ts'
import { manifestOf } from '../support/manifest.ts'

const quality = (...excluded: Pick<Excluded, 'reason' | 'records'>[]) => {
  const account = new Account()
  const record = { source: 'a', date: '2025-03-01', model_permaslug: 'acme/one', tokens: 1n }
  for (const each of excluded) account.add({ ...record, ...each })
  const outside = [{ date: '2024-12-31', records: 12n, tokens: '1' }]
  const ranking = {
    rows: [],
    periods: { weekly: [], monthly: [] },
    models: 1,
    published_records: 12_345n,
    outside,
    splits: new Map(),
    ruled: undefined,
  }
  return bandedQuality(manifestOf(), { account, records: countRecords(ranking, account), ranking })
}

it.each([
  [0, 'fewer than 10'],
  [9, 'fewer than 10'],
  [10, '10 to 99'],
  [99, '10 to 99'],
  [100, '100 to 999'],
  [12_345, '10000 to 99999'],
])('puts %d into the band %s', (count, band) => {
  expect(bandOf(count)).toBe(band)
  expect(Band.safeParse(band).success).toBe(true)
})

it('does not differ by one record, or by private usage', () => {
  const one = quality({ reason: 'duplicate', records: 1n }, { reason: 'withheld', records: 9n })
  expect(one).toEqual(quality({ reason: 'private', records: 70n }))
})
