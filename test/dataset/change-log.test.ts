import { describe, expect, it } from 'vitest'
import { changeLog } from '../../pipeline/contract/change-log.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { applyChanges, inverse, writeChanges } from '../../pipeline/dataset/change-log.ts'

function row(date: string, model_permaslug: string, tokens: number | bigint): RankingRow {
  return { date, model_permaslug, total_tokens: String(tokens) }
}

const BEFORE = [
  ...[row('2025-03-01', 'a', 9), row('2025-03-01', 'b', 8)],
  ...[row('2025-03-02', 'a', 7), row('2025-03-02', 'with,comma', 6), row('2025-03-02', 'other', 50)],
]
const AFTER = [
  ...[row('2025-03-02', 'b', 12), row('2025-03-02', 'a', 7), row('2025-03-02', 'other', 51)],
  row('2025-03-03', 'a', 1),
]

describe('changes.csv', () => {
  it('lists inserted, updated and deleted rows, `other` included, by date and slug', () => {
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

  it('turns the previous rows into the new ones in published order', () => {
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

  it('turns weeks into those that sum other dates', () => {
    const of = (tokens: number, days: number) => ({ ...row('2025-03-03', 'a', tokens), days })
    const [before, after] = [[of(7, 6)], [of(7, 7)]]
    const changes = changeLog(before, after)
    expect(writeChanges(changes, 'weekly').toString()).toBe(
      `op,date,model_permaslug,tokens_before,tokens_after,days_before,days_after\nupdate,2025-03-03,a,7,7,6,7\n`,
    )
    expect(applyChanges(before, changes)).toEqual(after)
    expect(applyChanges(after, inverse(changes))).toEqual(before)
    expect(() => applyChanges([of(7, 5)], changes)).toThrow('expects 7 of 6 days, but there is 7 of 5 days')
  })

  it.each([
    ['insert', 'a row that is there', { tokens_before: '', tokens_after: '1' }],
    ['update', 'a row with other tokens', { tokens_before: '6', tokens_after: '1' }],
    ['delete', 'a row with other tokens', { tokens_before: '6', tokens_after: '' }],
  ] as const)('cannot be applied when it has an %s of %s', (op, _, tokens) => {
    const change = { op, date: '2025-03-02', model_permaslug: 'a', ...tokens }
    expect(() => applyChanges(AFTER, [change])).toThrow(/2025-03-02.*but there is 7/)
  })
})
