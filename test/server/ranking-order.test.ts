import { expect, test } from 'vitest'
import { orderCheck } from '../../server/published/release.ts'
import type { Row } from '../support/publish.ts'

/** Each line is `date slug total`. Returns the first problem. */
function firstProblem(...lines: string[]): string | undefined {
  const check = orderCheck()
  for (const line of lines) {
    const [date = '', model_permaslug = '', total_tokens = ''] = line.split(' ')
    const row: Row = { date, model_permaslug, total_tokens }
    const problem = check(row)
    if (problem !== undefined) return problem
  }
  return undefined
}

test.each([
  ['one row', ['2025-01-01 a 1']],
  ['totals descending, compared as numbers', ['2025-01-01 a 10', '2025-01-01 b 9']],
  ['totals above 2^53', ['2025-01-01 a 9007199254740993', '2025-01-01 b 9007199254740992']],
  ['ties by slug', ['2025-01-01 a 5', '2025-01-01 b 5']],
  ['ties by code point, not by UTF-16 unit', ['2025-01-01 \uFF5E 5', '2025-01-01 \u{1F600} 5']],
  ['other last, though the largest', ['2025-01-01 a 5', '2025-01-01 other 500']],
  ['a new date begins anew', ['2025-01-01 a 5', '2025-01-01 other 5', '2025-01-02 a 500', '2025-01-03 b 1']],
  ['other alone', ['2025-01-01 other 5']],
  ['fifty models and other', [...named(50), '2025-01-01 other 1']],
])('accepts rows in order: %s', (_name, lines) => {
  expect(firstProblem(...lines)).toBeUndefined()
})

test.each([
  ['a date after a later one', ['2025-01-02 a 1', '2025-01-01 a 1'], '2025-01-01 stands after 2025-01-02'],
  ['totals ascending', ['2025-01-01 a 9', '2025-01-01 b 10'], 'b stands after a on 2025-01-01'],
  [
    'totals ascending above 2^53',
    ['2025-01-01 a 9007199254740992', '2025-01-01 b 9007199254740993'],
    'b stands after a',
  ],
  ['a tie in the wrong order', ['2025-01-01 b 5', '2025-01-01 a 5'], 'a stands after b'],
  ['a tie by UTF-16 unit', ['2025-01-01 \u{1F600} 5', '2025-01-01 \uFF5E 5'], 'stands after'],
  ['other before a model', ['2025-01-01 other 9', '2025-01-01 a 5'], 'a stands after other'],
  ['other twice', ['2025-01-01 other 9', '2025-01-01 other 5'], 'other stands after other'],
  ['a model twice', ['2025-01-01 a 9', '2025-01-01 b 8', '2025-01-01 a 7'], 'a stands twice on 2025-01-01'],
  ['a model twice in a row', ['2025-01-01 a 9', '2025-01-01 a 9'], 'a stands twice'],
  ['fifty-one models', named(51), 'names more than 50 models'],
])('refuses rows out of order: %s', (_name, lines, problem) => {
  expect(firstProblem(...lines)).toContain(problem)
})

function named(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `2025-01-01 m${i} ${1000 - i}`)
}
