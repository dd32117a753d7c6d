import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ModelFacts } from '../../pipeline/contract/model-facts.ts'
import { appearancesOf, modelFacts } from '../../pipeline/dataset/model-facts.ts'
import { verifyModels, writeModels } from '../../pipeline/dataset/models-file.ts'
import { createRegistry } from '../../pipeline/raw/registry.ts'
import { MODEL_FIELDS } from '../../pipeline/release/documents/fields.ts'
import { memoryDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'

const row = (date: string, model_permaslug: string, tokens: number | bigint) => {
  return { date, model_permaslug, total_tokens: String(tokens) }
}

const ROWS = [
  row('2025-01-01', 'acme/one', 900),
  row('2025-01-01', 'acme/two', 800),
  row('2025-01-01', 'other', 5000),
  row('2025-01-03', 'acme/two', 950),
  row('2025-01-03', 'acme/one', 100),
  row('2025-01-04', 'acme/two', 9_223_372_036_854_775_807n),
]

const DAYS = { rows: ROWS, periods: undefined }

describe('the facts of the models', () => {
  it('take from the rows: first and last date, number of days, best rank and its first date, tokens', () => {
    const [header, ...lines] = writeModels(modelFacts(DAYS)).toString().trimEnd().split('\n')
    expect(header).toBe(MODEL_FIELDS.map(({ name }) => name).join(','))
    expect(lines).toEqual([
      'acme/two,,,[],2025-01-01,2025-01-04,3,1,2025-01-03,9223372036854777557',
      'acme/one,,,[],2025-01-01,2025-01-03,2,1,2025-01-01,1000',
    ])
  })

  it('rank models with equal tokens as published, and leave `other` out', () => {
    const tied = [row('2025-01-01', 'a', 5), row('2025-01-01', 'b', 5), row('2025-01-01', 'other', 9)]
    expect(appearancesOf(tied)).toEqual(
      new Map([
        ['a', [{ date: '2025-01-01', tokens: 5n, rank: 1 }]],
        ['b', [{ date: '2025-01-01', tokens: 5n, rank: 2 }]],
      ]),
    )
  })

  it('order models by tokens, then by the code points of the slug', () => {
    const slugs = ['\u{1f600}', '\uffee', 'a']
    const rows = slugs.toReversed().map((slug) => row('2025-01-01', slug, 5))
    expect(modelFacts({ rows, periods: undefined }).map(({ model_permaslug }) => model_permaslug)).toEqual([
      'a',
      '\uffee',
      '\u{1f600}',
    ])
  })

  it('have a model that only weeks or months name at the end, without dates and ranks', async () => {
    const period = (slug: string) => ({ ...row('2024-12-30', slug, 7), days: 5 })
    const periods = {
      weekly: ['acme/two', 'only/weekly', 'other'].map(period),
      monthly: ['only/monthly', 'only/weekly', 'other'].map(period),
    }
    const database = await memoryDatabase()
    const path = join(await temporaryFolder(), 'models.csv')
    const facts = modelFacts({ rows: ROWS, periods })
    expect(facts.slice(0, 2)).toEqual(modelFacts(DAYS))
    expect(writeModels(facts.slice(2)).toString().split('\n').slice(1)).toEqual([
      'only/monthly,,,[],,,0,,,0',
      'only/weekly,,,[],,,0,,,0',
      '',
    ])
    for (const each of facts) expect(ModelFacts.parse(each)).toEqual(each)
    await writeFile(path, writeModels(facts))
    await verifyModels(database, path, { rows: ROWS, periods })
    await expect(verifyModels(database, path, DAYS)).rejects.toThrow('it says {"model_permaslug":"only/monthly"')
  })
})

describe('the names of a model', () => {
  const model = { aliases: [], public: true, name: 'Acme One', author: 'Acme' }
  const registry = createRegistry(
    [
      { ...model, model_permaslug: 'acme/one', aliases: ['uno', 'one', 'acme/one', 'one-2'] },
      { ...model, model_permaslug: 'acme/secret', aliases: ['hush'], public: false },
      { model_permaslug: 'acme/plain', aliases: [], public: true },
      { ...model, model_permaslug: 'acme/formula', name: '=1+1', author: 'A\nB' },
    ],
    [{ alias: 'deployment-7', model_permaslug: 'acme/one' }],
  )

  const none = { name: '', author: '', aliases: [] }
  it.each([
    ['come from the registry, sorted, without aliases of the aliases file',
     'acme/one', { name: 'Acme One', author: 'Acme', aliases: ['one', 'one-2', 'uno'] }],
    ['come from the base model for an unlisted variant', 'acme/one:free', { name: 'Acme One (free)', author: 'Acme', aliases: [] }],
    ['stay empty for a private model', 'acme/secret', none],
    ['stay empty for a variant of one', 'acme/secret:free', none],
    ['stay empty for an unknown model', 'acme/unknown', none],
    ['stay empty when the registry has none', 'acme/plain', none],
    ['stay empty when a spreadsheet would run them as a formula', 'acme/formula', none],
  ])('%s', (_, slug, names) => {
    expect(registry.names(slug)).toEqual(names)
  }) // biome-ignore format: one line a model
})
