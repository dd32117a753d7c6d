/**
 * Days that are delivered again and again with corrections: the change logs lead from the first release to the last, and a
 * day that nothing corrected keeps its one revision.
 */
import { expect, it } from 'vitest'
import { verify } from '../../pipeline/publication/verify.ts'
import { apply, inOrder, readChanges, readCoverage, readIndex, readTokens } from '../support/history.ts'
import { buildIn, newWorkspace, writeInput } from '../support/pipeline.ts'

const MODELS = ['acme/one', 'acme/two', 'lab/three']
/** The last date that each delivery has. */
const DELIVERIES = ['2025-02-26', '2025-03-01', '2025-03-05', '2025-03-09']
/** From which delivery on a date and model have other tokens; a model without tokens has no row. */
const CORRECTIONS = [
  { delivery: 1, date: '2025-02-25', model: 'acme/one', tokens: 7 },
  { delivery: 2, date: '2025-02-27', model: 'acme/two', tokens: 0 },
  { delivery: 3, date: '2025-02-25', model: 'acme/one', tokens: 9 },
  { delivery: 3, date: '2025-03-04', model: 'new/late', tokens: 5 },
]

function datesTo(last: string): string[] {
  const dates = Array.from({ length: 14 }, (_, day) => new Date(Date.UTC(2025, 1, 24 + day)).toISOString().slice(0, 10))
  return dates.filter((date) => date <= last)
}

function tokensOf(delivery: number, date: string, model: string): number {
  const made = CORRECTIONS.filter((each) => each.delivery <= delivery && each.date === date && each.model === model)
  return made.at(-1)?.tokens ?? (MODELS.includes(model) ? 100 + Number(date.slice(8)) * MODELS.indexOf(model) : 0)
}

it('change logs make the last release of the first one, and only corrected days have further revisions', async () => {
  const workspace = await newWorkspace()
  const source = { name: 'rankings', schema: 'canonical', files: ['rankings.csv'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { on_missing: 'remove', sources: [source] })
  for (const [delivery, last] of DELIVERIES.entries()) {
    const lines = datesTo(last).flatMap((date) =>
      [...MODELS, 'new/late'].map((model) => `${date}T12:00:00Z,${model},${tokensOf(delivery, date, model)},0`),
    )
    const text = ['timestamp,model_permaslug,prompt_tokens,completion_tokens', ...lines, ''].join('\n')
    await writeInput(workspace, 'rankings.csv', text)
    const asOf = new Date(Date.parse(last) + 86_400_000 + 600_000).toISOString()
    expect((await buildIn(workspace, asOf)).outcome, last).toBe('released')
  }

  const { releases } = await readIndex(workspace)
  const [first, last] = [releases.at(0)?.release ?? '', releases.at(-1)?.release ?? '']
  let tokens = await readTokens(workspace, first)
  for (const { release } of releases.slice(1)) tokens = apply(tokens, await readChanges(workspace, release))
  expect(inOrder(tokens)).toEqual(inOrder(await readTokens(workspace, last)))
  expect(tokens.size).toBe(datesTo('2025-03-09').length * MODELS.length)

  const { days } = await readCoverage(workspace)
  const revised = days.filter(({ rows, revision }) => rows > 0 && revision !== 1).map(({ date }) => date)
  expect(revised).toEqual([...new Set(CORRECTIONS.map(({ date }) => date))].toSorted())
  const { signal } = new AbortController()
  expect(await verify(workspace.publicDir, { signal, report: () => {} })).toMatchObject({ releases: DELIVERIES.length })
})
