/** Which tokens count when most of the usage is withheld. The case withheld-share tells what happens then. */
import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { howToAdd, percent } from '../../pipeline/dataset/published-share.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { useOn } from '../support/gateway.ts'
import { buildIn, newWorkspace, writeInput, writeSmallBuild } from '../support/pipeline.ts'

/** Builds are as of noon of 2025-03-10: the last completed dates end with the day before. */
const [FIRST_OF_31, BEFORE_31, LAST] = ['2025-02-07', '2025-02-06', '2025-03-09']
const known = (tokens: number, date = LAST) => useOn(date, 'acme/known', tokens)
const unknown = (tokens: number, date = LAST, model = 'acme/unknown') => useOn(date, model, tokens)

describe('the share of withheld tokens of a first release', () => {
  it.each([
    ['exactly a fifth is released', [known(80), unknown(20)], 'released'],
    ['one token more stops', [known(7999), unknown(2001)], 'stopped'],
    ['not private usage, on either side', [known(8), unknown(3), useOn(LAST, 'acme/secret', 1000)], 'stopped'],
    ['the first of them too', [known(8), unknown(3, FIRST_OF_31)], 'stopped'],
    ['not a date that is not complete', [known(8), unknown(1000, '2025-03-10')], 'released'],
    ['not the date before them', [known(8), unknown(1000, BEFORE_31)], 'released'],
    ['not public usage of the date before them', [known(1000, BEFORE_31), known(8), unknown(3)], 'stopped'],
    ['all dates where the last 31 have no usage', [known(8, '2025-01-02'), unknown(3, '2025-01-03')], 'stopped'],
    [
      'duplicates once',
      [known(80), ...Array.from({ length: 9 }, () => ({ ...unknown(20), request_id: 'r' }))],
      'released',
    ],
    ['no tokens at all are released', [known(8, BEFORE_31), known(0), unknown(0)], 'released'],
  ])('counts the last 31 completed dates: %s', async (_, records, outcome) => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, {
      sources: [{ records, settings: { visibility: 'registry' } }],
      models: [{ model_permaslug: 'acme/known' }, { model_permaslug: 'acme/secret', public: false }],
      // Helpers allow any share where nothing is said; here the default is tried.
      top: { max_withheld_share: undefined },
    })
    const built = await buildIn(workspace).catch((error: unknown) => error)
    if (outcome === 'released') return expect(built).toMatchObject({ outcome })
    expect(built).toBeInstanceOf(BuildError)
    expect(String(built)).toContain('max_withheld_share')
    expect(await readdir(workspace.publicDir)).toEqual([])
  })

  it('takes the visibility of a source from the sources file, not from the registry', async () => {
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: [{ records: [unknown(9)] }] })
    expect(await buildIn(workspace)).toMatchObject({ outcome: 'released', published_share: { share: 1 } })
  })
})

it.each([
  [1, '100 %'],
  [0.99999, 'more than 99.99 %'],
  [0.9987, '99.87 %'],
  [0.5, '50 %'],
  [0.001, '0.10 %'],
  [0.00001, 'less than 0.01 %'],
  [0, '0 %'],
])('%d is written as %s', (share, text) => {
  expect(percent(share)).toBe(text)
})

it.each([-0.1, 1.1, '0.2', null])('max_withheld_share %j is an error that names the key', async (value) => {
  const workspace = await newWorkspace()
  const source = { name: 'gateway', schema: 'canonical', files: ['a.csv'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { max_withheld_share: value, sources: [source] })
  const failed = expect(readSources(workspace.sources)).rejects
  await failed.toThrow(CliError)
  await failed.toThrow('max_withheld_share')
})

it.each([
  [['acme/one', 'ft:gpt-6:acme::q'], '--add public acme/one" (or --add private; 1 name looks private);'],
  [['ft:gpt-6:acme::q', 'router'], '--add private ft:gpt-6:acme::q router" (or --add public; 2 names look private);'],
])('never proposes to publish names that look private: %j', (models, expected) => {
  expect(howToAdd(models.map((model) => ({ model })))).toContain(expected)
})
