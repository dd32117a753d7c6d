/** The worked example of docs/disclosure.md, computed by a build and by the rule written a second time. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DEFAULT_RULE } from '../../pipeline/contract/disclosure.ts'
import { type Contribution, isSafe, rankUnderRule } from '../support/disclosure-oracle.ts'
import { publish, publishedCsv, REPOSITORY, rowsOf } from '../support/pipeline.ts'

const DATE = '2025-03-01'
const PAGE = readFileSync(join(REPOSITORY, 'docs/disclosure.md'), 'utf8')

/** The cells of the table below a head, without backquotes. */
function tableBelow(head: string): string[][] {
  const [, below = ''] = PAGE.split(`${head}\n`)
  const lines = below.split('\n\n')[0]?.split('\n').slice(1) ?? []
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

const USAGE = tableBelow('| model | A | B | C | D | E | F | all | safe |')
const CONTRIBUTIONS = USAGE.flatMap(([model = '', ...cells]) =>
  cells.slice(0, 6).map((tokens, customer): Contribution => {
    return { date: DATE, model, contributor: 'ABCDEF'.charAt(customer), tokens: Number(tokens) }
  }),
)
const PUBLISHED = tableBelow('This is published:\n\n| model | tokens |').map(
  ([model, tokens]) => `${DATE} ${model} ${tokens}`,
)

it('adds up, and calls those models safe that are', () => {
  expect(USAGE).toHaveLength(3)
  for (const [model, ...cells] of USAGE) {
    const own = CONTRIBUTIONS.filter((each) => each.model === model)
    expect(Number(cells[6])).toBe(own.reduce((sum, { tokens }) => sum + tokens, 0))
    expect(cells[7]?.startsWith('yes')).toBe(isSafe(own, DEFAULT_RULE))
  }
  const ranked = rankUnderRule(CONTRIBUTIONS, DEFAULT_RULE)
  expect(ranked.map(({ date, model, tokens }) => `${date} ${model} ${tokens}`)).toEqual(PUBLISHED)
  const without = CONTRIBUTIONS.filter(({ model }) => model !== 'lab/solo')
  expect(rankUnderRule(without, DEFAULT_RULE).map(({ model }) => model)).toEqual(['other'])
})

it('is what a build publishes', async () => {
  const records = CONTRIBUTIONS.filter(({ tokens }) => tokens > 0).map(({ model, contributor, tokens }) => {
    return { timestamp: `${DATE}T12:00:00Z`, model_permaslug: model, prompt_tokens: `${tokens}`, contributor }
  })
  const sources = [{ records, extraColumns: ['contributor'] }]
  const { workspace } = await publish({ sources, top: { disclosure: DEFAULT_RULE } })
  expect(rowsOf(await publishedCsv(workspace))).toEqual(PUBLISHED)
})
