import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { ModelFacts } from '../../pipeline/contract/model-facts.ts'
import { appearancesOf, modelFacts } from '../../pipeline/dataset/model-facts.ts'
import { verifyModels, writeModels } from '../../pipeline/dataset/models-file.ts'
import { createRegistry } from '../../pipeline/raw/registry.ts'
import { MODEL_FIELDS } from '../../pipeline/release/documents/fields.ts'
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
    const facts = { name: '', author: '', aliases: [] }
    expect(modelFacts(DAYS)).toEqual([
      {
        model_permaslug: 'acme/two',
        ...facts,
        first_date: '2025-01-01',
        last_date: '2025-01-04',
        days: 3,
        best_rank: 1,
        best_rank_date: '2025-01-03',
        total_tokens: '9223372036854777557',
      },
      {
        model_permaslug: 'acme/one',
        ...facts,
        first_date: '2025-01-01',
        last_date: '2025-01-03',
        days: 2,
        best_rank: 1,
        best_rank_date: '2025-01-01',
        total_tokens: '1000',
      },
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
    const folder = await temporaryFolder()
    const options = { path: ':memory:', temporaryFolder: folder, memoryLimit: undefined }
    const database = await Database.open({ ...options, signal: new AbortController().signal })
    const path = join(folder, 'models.csv')
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
    database.close()
  })
})

describe('models.csv', () => {
  it('writes the columns of the data dictionary, and aliases as JSON', () => {
    const names = { name: 'One, "the first"', author: 'Acme', aliases: ['1', 'a,"b"'] }
    const [header, ...lines] = writeModels(modelFacts({ ...DAYS, rows: ROWS.slice(0, 1) }, () => names))
      .toString()
      .split('\n')
    expect(header).toBe(MODEL_FIELDS.map(({ name }) => name).join(','))
    expect(lines).toEqual([
      'acme/one,"One, ""the first""",Acme,"[""1"",""a,\\""b\\""""]",2025-01-01,2025-01-01,1,1,2025-01-01,900',
      '',
    ])
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

  it('come from the registry, with sorted aliases and without those of the aliases file', () => {
    expect(registry.names('acme/one')).toEqual({ name: 'Acme One', author: 'Acme', aliases: ['one', 'one-2', 'uno'] })
  })

  it('come from the base model for an unlisted variant', () => {
    expect(registry.names('acme/one:free')).toEqual({ name: 'Acme One (free)', author: 'Acme', aliases: [] })
  })

  it.each(['acme/secret', 'acme/secret:free', 'acme/unknown'])('stay empty for %s, which is not public', (slug) => {
    expect(registry.names(slug)).toEqual({ name: '', author: '', aliases: [] })
  })

  it('stay empty when the registry has none and when a spreadsheet would run them as a formula', () => {
    expect(registry.names('acme/plain')).toEqual({ name: '', author: '', aliases: [] })
    expect(registry.names('acme/formula')).toEqual({ name: '', author: '', aliases: [] })
  })
})
