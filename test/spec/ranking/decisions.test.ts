/**
 * What counts where the specification is silent (docs/specification.md, by its numbers), for clean input. The golden
 * builds of test/cases prove others.
 */
import { describe, expect, it } from 'vitest'
import { BuildError } from '../../../pipeline/base/errors.ts'
import { dateOf, publishBeside, rejectsOf } from '../../support/counting.ts'
import { crowd, crowdSlug, publish, type SmallSource } from '../../support/pipeline.ts'
import type { FileRecord } from '../../support/records.ts'
import { type Day, recordsOf } from '../../support/ruled-gateway.ts'

/** Rows of several dates by their date, each as `model tokens`. */
function byDate(rows: string[]): Map<string, string[]> {
  const dates = Map.groupBy(rows, (row) => row.slice(0, 10))
  return new Map([...dates].map(([date, ofDate]) => [date, ofDate.map((row) => row.slice(11))]))
}

/** The same names with other values. */
function mapped<From, To>(values: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}

/**
 * Publishes cases by name, and gives the rows of each as `model tokens`. One build does for all of them, because each
 * has a date of its own in the place of 2025-03-02: no ranking, and no copy of a request, reaches beyond its date.
 */
async function publishEach(cases: Record<string, FileRecord[]>) {
  const dated = Object.entries(cases).map(([name, records], index) => ({ name, records, date: dateOf(index) }))
  const all = dated.flatMap(({ records, date }) =>
    records.map(({ timestamp = '2025-03-02T12:00:00Z', ...record }) => ({
      ...record,
      timestamp: timestamp.replace('2025-03-02', date),
    })),
  )
  const { rows, summary } = await publish({ sources: [{ records: all, extraColumns: ['status'] }] })
  const found = byDate(rows)
  expect([...found.keys()]).toEqual(dated.map(({ date }) => date))
  return { rows: Object.fromEntries(dated.map(({ name, date }) => [name, found.get(date) ?? []])), summary }
}

describe('counting 1: total_tokens = prompt + completion', () => {
  it('adds prompt and completion tokens, of which one may be empty, and ignores their parts such as cached tokens', async () => {
    const parts = { cached_tokens: '25', reasoning_tokens: '9', total_tokens: '1000' }
    const records = [
      { model_permaslug: 'a', prompt_tokens: '30', completion_tokens: '12', ...parts },
      { model_permaslug: 'b', prompt_tokens: '30', completion_tokens: '' },
      { model_permaslug: 'c', prompt_tokens: '', completion_tokens: '12' },
    ]
    const { rows } = await publish({ sources: [{ records, extraColumns: Object.keys(parts) }] })
    expect(rows).toEqual(['2025-03-02 a 42', '2025-03-02 b 30', '2025-03-02 c 12'])
  })
})

describe('counting 2: a variant is a model of its own, and slugs are compared as people read them', () => {
  it('takes slugs for one that differ by spaces around them, the form of an accent or characters that nobody sees', async () => {
    const names = {
      'spaces around it': ['acme/caf\u00e9', ' acme/caf\u00e9', 'acme/caf\u00e9 ', '\u00a0acme/caf\u00e9\u2003'],
      'the form of an accent': ['acme/caf\u00e9', 'acme/cafe\u0301', 'acme/cafe\u200b\u0301'],
      'invisible characters': [
        'acme/caf\u00e9',
        'ac\u00adme/caf\u00e9',
        '\ufeffacme/caf\u00e9',
        'acme/\u2060caf\u00e9 \u200b',
      ],
    }
    const { rows } = await publishEach(
      mapped(names, (each) => each.map((slug) => ({ model_permaslug: slug, prompt_tokens: '5' }))),
    )
    expect(rows).toEqual(mapped(names, (each) => [`acme/caf\u00e9 ${5 * each.length}`]))
  })
})

describe('counting 3: only public usage is published, `other` included', () => {
  it('rejects a record with an unknown visibility', async () => {
    const { rows, summary } = await publishBeside([{ model_permaslug: 'a', prompt_tokens: '9', visibility: 'hidden' }])
    expect(rows).toEqual(['2025-03-02 bystander 1'])
    expect(summary.records.rejected).toEqual({ invalid_visibility: 1 })
  })
})

describe('names that look private are withheld unless the registry lists the very name as public', () => {
  const names = [
    'ft:gpt-4o:acme::x',
    'bedrock/arn:aws:bedrock:us-east-1:123456789012:p/a',
    'acme/gpt-prod',
    'acme/m:prod',
  ]
  const records = (visibility?: string) =>
    [...names, 'acme/m'].map((slug) => ({
      model_permaslug: slug,
      prompt_tokens: '5',
      ...(visibility && { visibility }),
    }))
  const models = [{ model_permaslug: 'acme/m' }, { model_permaslug: 'ft:gpt-4o:acme::x' }]

  it.each([
    ['in a public source', 'public', undefined, [], ['acme/m']],
    ['in a public source beside a registry', 'public', undefined, models, ['acme/m', 'ft:gpt-4o:acme::x']],
    ['that the registry does not know', 'registry', undefined, models, ['acme/m', 'ft:gpt-4o:acme::x']],
    ['in records that say they are public', 'registry', 'public', models, ['acme/m', 'ft:gpt-4o:acme::x']],
  ])('withholds them %s', async (_, visibility, own, listed, expected) => {
    const { rows, summary } = await publish({
      sources: [
        { records: records(own), settings: { visibility }, extraColumns: own === undefined ? [] : ['visibility'] },
      ],
      models: listed,
    })
    expect(rows).toEqual(expected.map((slug) => `2025-03-02 ${slug} 5`))
    expect(summary.records.withheld.map(({ model }) => model).toSorted()).toEqual(
      names.filter((name) => !expected.includes(name)).toSorted(),
    )
  })

  it('publishes none of a private source whose records say they are public', async () => {
    const source = { records: records('public'), settings: { visibility: 'private' }, extraColumns: ['visibility'] }
    const { rows } = await publish({ sources: [source], models })
    expect(rows).toEqual(['2025-03-02 acme/m 5', '2025-03-02 ft:gpt-4o:acme::x 5'])
  })

  it('publishes one that the sources file itself gives to all records', async () => {
    const settings = { visibility: 'public', model: 'acme/gpt-prod', columns: { model_permaslug: 'none' } }
    const { rows } = await publish({ sources: [{ records: [{ prompt_tokens: '5' }], settings }] })
    expect(rows).toEqual(['2025-03-02 acme/gpt-prod 5'])
  })
})

describe('counting 4: a model with zero tokens on a date is excluded from that date before ranking', () => {
  it('has no row of zero tokens and no `other` because of one', async () => {
    const { rows } = await publishEach({
      'a model of zero': [
        { model_permaslug: 'a', prompt_tokens: '0' },
        { model_permaslug: 'b', prompt_tokens: '1' },
      ],
      'the 51st of zero': crowd(51, (index) => (index === 50 ? 0 : 1)),
      'one record of zero': [...crowd(1, () => 0), ...crowd(1, () => 1)],
    })
    expect(rows).toEqual({
      'a model of zero': ['b 1'],
      'the 51st of zero': Array.from({ length: 50 }, (_, index) => `${crowdSlug(index)} 1`),
      'one record of zero': [`${crowdSlug(0)} 1`],
    })
  })
})

describe('counting 5: ties break by code point order of the slug, also at the cut', () => {
  it('orders equal totals by code point', async () => {
    const orders = {
      'upper case before lower case': ['a/Z', 'a/a'],
      'punctuation before letters': ['a-b', 'a/b', 'a:b', 'a_b', 'aab'],
      'a prefix before what continues it': ['a/b', 'a/b-1'],
      'ASCII before accents': ['a/z', 'a/é'],
      'U+FF5E before U+1F600, which in UTF-16 comes first': ['a/\uff5e', 'a/\u{1f600}'],
    }
    const { rows } = await publishEach(
      mapped(orders, (slugs) => slugs.toReversed().map((slug) => ({ model_permaslug: slug, prompt_tokens: '1' }))),
    )
    expect(rows).toEqual(mapped(orders, (slugs) => slugs.map((slug) => `${slug} 1`)))
  })
})

describe('counting 6: slugs that are rejected', () => {
  it('rejects empty, long, unprintable, formula-like and reserved slugs', async () => {
    const slugs = {
      'an empty one': '',
      'one of 301 characters': 'x'.repeat(301),
      'one with a tab': 'a\tb',
      'one with a line feed': 'a\nb',
      'one with U+0000': 'a\0b',
      'one with U+001F': 'a\x1fb',
      'one with U+007F': 'a\x7fb',
      'one with U+0085': 'a\x85b',
      'one that begins with =': '=a',
      'one that begins with +': '+a',
      'one that begins with -': '-a',
      'one that begins with @': '@a',
      'one that begins with ＝': '＝a',
      'one with a formula behind a separator': 'acme/, ＋a',
      'one with a formula in quotes': `acme/"=a`,
      'one with a semicolon': 'acme/;a',
      'one that turns the direction of text': 'acme/\u202ea',
      'one of invisible characters': '\u200b \u00a0',
      'the reserved one': 'other',
      'the reserved one in another case': 'OTHER',
      'the reserved one that looks the same': ' oth\u00ader',
    }
    const names = Object.keys(slugs)
    const built = await publishBeside(
      Object.values(slugs).map((slug) => ({ model_permaslug: slug, prompt_tokens: '5' })),
    )
    const rejects = (await rejectsOf(built)).map(({ record, reason }) => [names[record - 1], reason])
    expect(rejects).toEqual(names.map((name) => [name, 'invalid_model']))
    expect(built.rows).toEqual(['2025-03-02 bystander 1'])
    expect(built.summary.records.rejected).toEqual({ invalid_model: names.length })
  })
})

describe('counting 7: records are de-duplicated by (request_id, UTC date) within a source', () => {
  const one = {
    timestamp: '2025-03-02T12:00:00Z',
    model_permaslug: 'a',
    prompt_tokens: '10',
    completion_tokens: '5',
    request_id: 'r1',
  }

  it('counts one id on two dates twice, and ids that differ as written', async () => {
    const nextDay = { timestamp: '2025-03-03T00:00:00Z' }
    const of = (name: string) => ({ ...one, model_permaslug: name, request_id: name })
    const repeated = of('one id twice on each of two dates')
    const written = of('ids that differ as written')
    const { rows, summary } = await publish([
      ...[repeated, { ...repeated, ...nextDay }, repeated, { ...repeated, ...nextDay }],
      ...[written, { ...written, request_id: 'IDS that differ as written' }],
      { ...written, request_id: `${written.request_id} ` },
    ])
    expect(rows).toEqual([
      '2025-03-02 ids that differ as written 45',
      '2025-03-02 one id twice on each of two dates 15',
      '2025-03-03 one id twice on each of two dates 15',
    ])
    expect(summary.records).toMatchObject({ read: 7, published: 5, duplicates: 2 })
  })

  it('keeps the greatest of duplicates that differ, in either order', async () => {
    const later = { ...one, timestamp: '2025-03-02T13:00:00Z' }
    const [open, closed] = [
      { ...one, visibility: 'public' },
      { ...one, visibility: 'private' },
    ]
    const called = (model_permaslug: string) => ({ ...one, model_permaslug })
    const cases: [what: string, stays: string, copies: FileRecord[]][] = [
      ['the latest', 'a 15', [{ ...one, timestamp: '2025-03-02T12:00:00.000001Z' }, { ...one, prompt_tokens: '99' }]],
      ['then the most prompt tokens, as numbers', 'a 15', [one, { ...one, prompt_tokens: '9', completion_tokens: '99' }]],
      ['then the most completion tokens', 'a 110', [{ ...one, completion_tokens: '100' }, { ...one, model_permaslug: 'b' }]],
      ['then the greatest model, by code point', '\u{1f600} 15', [called('\uff5e'), called('\u{1f600}')]],
      ['then a private one before a public one', 'a 15', [{ ...one, request_id: 'bystander' }, closed, open]],
      ['but a public one of a greater model before a private one', 'b 15', [{ ...open, model_permaslug: 'b' }, closed]],
      ['but a later public one before an earlier private one', 'a 15', [{ ...later, visibility: 'public' }, closed]],
    ] // biome-ignore format: one line a case
    const each = cases.flatMap(([what, stays, copies]) => [
      { what, stays, copies },
      { what: `${what}, turned round`, stays, copies: copies.toReversed() },
    ])
    const { rows, summary } = await publishEach(Object.fromEntries(each.map(({ what, copies }) => [what, copies])))
    expect(rows).toEqual(Object.fromEntries(each.map(({ what, stays }) => [what, [stays]])))
    // Two copies each, and a bystander in one case that is there when the private copy stays.
    expect(summary.records).toMatchObject({ read: 30, published: 14, private: 2, duplicates: 14 })
  })

  it('gives the same result in either order when only one duplicate has a visibility', async () => {
    const bystander = { ...one, model_permaslug: 'known', request_id: 'r2' }
    const copies = [{ ...one, visibility: 'public' }, one]
    const build = (records: FileRecord[]) =>
      publish({
        sources: [{ records: [bystander, ...records], settings: { visibility: 'registry' } }],
        models: [{ model_permaslug: 'known' }],
      })
    const [forward, backward] = [await build(copies), await build(copies.toReversed())]
    expect(backward.rows).toEqual(forward.rows)
  })

  it('never keeps a rejected record instead of a valid one', async () => {
    const { rows, summary } = await publishBeside([one, { ...one, prompt_tokens: '-99' }])
    expect(rows).toEqual(['2025-03-02 a 15', '2025-03-02 bystander 1'])
    expect(summary.records).toMatchObject({ duplicates: 0, rejected: { invalid_token_count: 1 } })
  })

  it('compares models after their aliases', async () => {
    // By its raw name `zz` would stay; it is another name of `a`, so `m` is the greatest.
    const source = {
      records: [
        { ...one, model_permaslug: 'zz' },
        { ...one, model_permaslug: 'm' },
      ],
      settings: { visibility: 'registry' },
    }
    const { rows } = await publish({
      sources: [source],
      models: [{ model_permaslug: 'a', aliases: ['zz'] }, { model_permaslug: 'm' }],
    })
    expect(rows).toEqual(['2025-03-02 m 15'])
  })
})

describe('counting 10: usage that is not published', () => {
  const at = (timestamp: string): FileRecord => ({ timestamp, model_permaslug: 'a', prompt_tokens: '1' })
  const sources = (...records: FileRecord[]): SmallSource[] => [{ records }]

  it('publishes a day from the midnight that ends it, and not a second earlier', async () => {
    const records = sources(at('2025-03-01T12:00:00Z'), at('2025-03-02T12:00:00Z'))
    const before = await publish({ sources: records, asOf: '2025-03-02T23:59:59Z' })
    expect(before.rows).toEqual(['2025-03-01 a 1'])
    const after = await publish({ sources: records, asOf: '2025-03-03T00:00:00Z' })
    expect(after.rows).toEqual(['2025-03-01 a 1', '2025-03-02 a 1'])
  })

  it('fails when no record is of a complete day of the dataset, public, and with tokens', async () => {
    const noon = at('2025-03-02T12:00:00Z')
    for (const record of [
      at('2024-12-31T12:00:00Z'),
      at('2026-01-01T00:00:00Z'),
      { ...noon, visibility: 'private' },
      { ...noon, prompt_tokens: '0' },
    ]) {
      await expect(publish([record])).rejects.toThrow(BuildError)
    }
  })
})

describe('under a disclosure rule (docs/decisions/0026)', () => {
  const SAFE = { anna: 30, ben: 20, cleo: 20 }
  const disclosure = { min_contributors: 3, p_percent: 10, publish_after_days: 0 }

  async function rowsOfDay(day: Day): Promise<string[]> {
    const source = { records: recordsOf('2025-03-02', day), extraColumns: ['contributor'] }
    return (await publish({ sources: [source], top: { disclosure } })).rows
  }

  it('leaves out a larger model than those it names, and `other` may be larger than rank 1', async () => {
    const day = { large: { anna: 900 }, small: SAFE, pair: { anna: 1, ben: 800, cleo: 700 } }
    expect(await rowsOfDay(day)).toEqual(['2025-03-02 small 70', '2025-03-02 other 2401'])
  })

  it('lets the smallest named models join `other` until it is safe', async () => {
    const day = { big: { anna: 300, ben: 200, cleo: 200 }, small: SAFE, solo: { dora: 7 } }
    expect(await rowsOfDay(day)).toEqual(['2025-03-02 big 700', '2025-03-02 other 77'])
  })
})
