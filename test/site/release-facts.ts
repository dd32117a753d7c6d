/** A release that differs from the one before in every way. */
import type { TableChanges } from '../../pipeline/contract/change-log.ts'
import type { ReleaseChanges } from '../../pipeline/contract/manifest.ts'
import { OTHER } from '../../pipeline/contract/ranking.ts'
import type { PublicQuality } from '../../pipeline/dataset/records.ts'
import { manifestOf } from '../support/manifest.ts'
import { rankingRow as row } from '../support/site.ts'

export const ROWS = [
  row('2026-11-18', 'acme/one', 150),
  row('2026-11-18', 'acme/<two>', 50),
  row('2026-11-19', 'acme/one', 7_000),
  row('2026-11-19', 'acme/new', 3_000),
]
const DAILY: TableChanges['daily'] = [
  { op: 'update', date: '2026-11-18', model_permaslug: 'acme/one', tokens_before: '100', tokens_after: '150' },
  { op: 'insert', date: '2026-11-18', model_permaslug: 'acme/<two>', tokens_before: '', tokens_after: '50' },
  { op: 'delete', date: '2026-11-18', model_permaslug: 'acme/gone', tokens_before: '60', tokens_after: '' },
  { op: 'insert', date: '2026-11-19', model_permaslug: 'acme/one', tokens_before: '', tokens_after: '7000' },
  { op: 'insert', date: '2026-11-19', model_permaslug: 'acme/new', tokens_before: '', tokens_after: '3000' },
]
const PERIOD = { op: 'update' as const, tokens_before: '160', tokens_after: '7150', days_before: '1', days_after: '2' }
export const CHANGES: TableChanges = {
  daily: DAILY,
  weekly: [{ ...PERIOD, date: '2026-11-16', model_permaslug: 'acme/one' }],
  monthly: ['acme/one', OTHER].map((model_permaslug) => ({ ...PERIOD, date: '2026-11-01', model_permaslug })),
}
export const QUALITY: PublicQuality = {
  dataset: 'rankings-daily',
  release: '20261120T001200Z',
  as_of: '2026-11-20T00:12:00Z',
  synthetic: false,
  records: {
    published: 12_345,
    duplicates: 7,
    left_out: 0,
    archived_date: 0,
    rejected: { invalid_timestamp: 3 },
    before_dataset_start: 0,
    not_yet_complete: 2,
    token_parts_disagree: { cached_above_prompt: 4 },
  },
  days: [],
  warnings: [{ check: 'missing_date', date: '2026-11-17', finding: 'has <no> rows' }],
}
export const TOLD: ReleaseChanges = {
  previous: '20261119T001200Z',
  facts: [],
  reason: 'late_data',
  note: 'One <file> was late.',
}

export const MANIFEST = manifestOf({ changes: TOLD })
