import { describe, expect, it } from 'vitest'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { applyChanges, changeLog, writeChanges } from '../../pipeline/dataset/change-log.ts'

function row(date: string, model_permaslug: string, tokens: number | bigint): RankingRow {
  return { date, model_permaslug, total_tokens: String(tokens) }
}

const BEFORE = [
  row('2025-03-01', 'a', 9),
  row('2025-03-01', 'b', 8),
  row('2025-03-02', 'a', 7),
  row('2025-03-02', 'with,comma', 6),
  row('2025-03-02', 'other', 50),
]
const AFTER = [
  row('2025-03-02', 'b', 12),
  row('2025-03-02', 'a', 7),
  row('2025-03-02', 'other', 51),
  row('2025-03-03', 'a', 1),
]

describe('changes.csv', () => {
  it('says what was inserted, updated and deleted, the row of the rest included, in one order', () => {
    expect(writeChanges(changeLog(BEFORE, AFTER)).toString()).toBe(
      [
        'op,date,model_permaslug,tokens_before,tokens_after',
        'delete,2025-03-01,a,9,',
        'delete,2025-03-01,b,8,',
        'insert,2025-03-02,b,,12',
        'update,2025-03-02,other,50,51',
        'delete,2025-03-02,"with,comma",6,',
        'insert,2025-03-03,a,,1\n',
      ].join('\n'),
    )
  })

  it('inserts everything in a first release, and is a header alone where nothing changed', () => {
    expect(changeLog([], AFTER).map(({ op }) => op)).toEqual(['insert', 'insert', 'insert', 'insert'])
    expect(writeChanges(changeLog(AFTER, AFTER)).toString()).toBe(
      'op,date,model_permaslug,tokens_before,tokens_after\n',
    )
  })

  it('explains the difference of each day in full', () => {
    const sum = (date: string, tokens: readonly { date: string; value: string }[]) =>
      tokens.filter((entry) => entry.date === date).reduce((total, { value }) => total + BigInt(value || '0'), 0n)
    const changes = changeLog(BEFORE, AFTER)
    for (const date of ['2025-03-01', '2025-03-02', '2025-03-03']) {
      const of = (rows: RankingRow[]) => rows.map((entry) => ({ date: entry.date, value: entry.total_tokens }))
      const by = (key: 'tokens_before' | 'tokens_after') => changes.map((c) => ({ date: c.date, value: c[key] }))
      expect(sum(date, by('tokens_after')) - sum(date, by('tokens_before')), date).toBe(
        sum(date, of(AFTER)) - sum(date, of(BEFORE)),
      )
    }
  })

  it('applied to the former rows gives the new ones in published order', () => {
    expect(applyChanges(BEFORE, changeLog(BEFORE, AFTER))).toEqual(AFTER)
    // By code points, which is not the order of JavaScript's strings, and by numbers beyond 2^53.
    const odd = [
      row('2025-03-02', 'b', 9007199254740993n),
      row('2025-03-02', 'a', 9007199254740992n),
      row('2025-03-02', '\uffee', 5),
      row('2025-03-02', '\u{1f600}', 5),
    ]
    expect(applyChanges([], changeLog([], odd))).toEqual(odd)
  })

  it.each([
    ['insert', 'a row that is there', { tokens_before: '', tokens_after: '1' }],
    ['update', 'a row with other tokens', { tokens_before: '6', tokens_after: '1' }],
    ['delete', 'a row with other tokens', { tokens_before: '6', tokens_after: '' }],
  ] as const)('does not apply as %s of %s', (op, _, tokens) => {
    const change = { op, date: '2025-03-02', model_permaslug: 'a', ...tokens }
    expect(() => applyChanges(AFTER, [change])).toThrow(/2025-03-02.*but there is 7/)
  })
})
