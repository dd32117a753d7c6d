/** DESIGN.md §6, the decisions about clean input where the specification is silent; each with what it does not say. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BuildError } from '../../../pipeline/errors.ts'
import {
  buildIn,
  crowd,
  newWorkspace,
  publish,
  publishedCsv,
  rowsOf,
  type SmallSource,
  writeInput,
} from '../../support/pipeline.ts'
import { COLUMNS, type FileRecord, writeRecords } from '../../support/records.ts'

/** Publishes with every share of rejected records allowed, next to one record that is right. */
function publishBeside(records: FileRecord[]) {
  const bystander = { model_permaslug: 'bystander', prompt_tokens: '1' }
  return publish({ sources: [{ records: [...records, bystander] }], top: { max_rejected_share: 1 } })
}

describe('decision 6.1: total_tokens = prompt + completion', () => {
  it('adds prompt and completion', async () => {
    const { rows } = await publish([{ model_permaslug: 'a', prompt_tokens: '30', completion_tokens: '12' }])
    expect(rows).toEqual(['2025-03-02 a 42'])
  })

  it('counts one of them alone when the other is empty', async () => {
    const { rows } = await publish([
      { model_permaslug: 'a', prompt_tokens: '30', completion_tokens: '' },
      { model_permaslug: 'b', prompt_tokens: '', completion_tokens: '12' },
    ])
    expect(rows).toEqual(['2025-03-02 a 30', '2025-03-02 b 12'])
  })

  it('never adds cached and reasoning tokens, which are parts of those', async () => {
    const parts = ['cached_tokens', 'reasoning_tokens', 'total_tokens']
    const record = {
      model_permaslug: 'a',
      prompt_tokens: '30',
      completion_tokens: '12',
      cached_tokens: '25',
      reasoning_tokens: '9',
      total_tokens: '1000',
    }
    const { rows } = await publish({ sources: [{ records: [record], extraColumns: parts }] })
    expect(rows).toEqual(['2025-03-02 a 42'])
  })
})

describe('decision 6.2: a variant is a model of its own, and slugs are compared as written', () => {
  it('ranks `:free` beside its base', async () => {
    const { rows } = await publish([
      { model_permaslug: 'a/b', prompt_tokens: '2' },
      { model_permaslug: 'a/b:free', prompt_tokens: '3' },
    ])
    expect(rows).toEqual(['2025-03-02 a/b:free 3', '2025-03-02 a/b 2'])
  })

  it.each([
    ['case', 'a/B', 'a/b'],
    ['a space before', ' a/b', 'a/b'],
    ['a space after', 'a/b ', 'a/b'],
    ['the form of an accent', 'a/caf\u00e9', 'a/cafe\u0301'],
    ['zeros before a number', '007', '7'],
    ['a space without a break', 'a\u00a0b', 'a b'],
  ])('keeps two slugs apart that differ in %s', async (_, one, two) => {
    const { rows } = await publish([
      { model_permaslug: one, prompt_tokens: '2' },
      { model_permaslug: two, prompt_tokens: '1' },
    ])
    expect(rows).toEqual([`2025-03-02 ${one} 2`, `2025-03-02 ${two} 1`])
  })

  it.each(['null', 'NULL', 'NaN', 'nan', 'true', '1e5', 'inf', '\\N', 'None', '2025-03-02'])(
    'takes %s for a name',
    async (slug) => {
      const { rows } = await publish([{ model_permaslug: slug, prompt_tokens: '2' }])
      expect(rows).toEqual([`2025-03-02 ${slug} 2`])
    },
  )

  it('quotes a slug in CSV only where CSV needs it', async () => {
    const { csv } = await publish([
      { model_permaslug: 'with,comma', prompt_tokens: '4' },
      { model_permaslug: 'with"quote', prompt_tokens: '3' },
      { model_permaslug: "with'apostrophe and space", prompt_tokens: '2' },
      { model_permaslug: '#with;other|marks', prompt_tokens: '1' },
    ])
    expect(csv.split('\n')).toEqual([
      'date,model_permaslug,total_tokens',
      '2025-03-02,"with,comma",4',
      '2025-03-02,"with""quote",3',
      "2025-03-02,with'apostrophe and space,2",
      '2025-03-02,#with;other|marks,1',
      '',
    ])
  })
})

describe('decision 6.3: only public usage is published, `other` included', () => {
  const secret = { model_permaslug: 'acme/secret', prompt_tokens: '900', visibility: 'private' }

  it('publishes nothing of a private record, not even in `other`', async () => {
    const { rows, summary } = await publish([...crowd(51, () => 10), secret])
    expect(rows.at(-1)).toBe('2025-03-02 other 10')
    expect(summary.total_tokens).toBe('510')
    expect(summary.records).toMatchObject({ read: 52, published: 51, private: 1 })
  })

  it('publishes the public records of a model that also has private ones', async () => {
    const { rows } = await publish([secret, { ...secret, visibility: 'public', prompt_tokens: '7' }])
    expect(rows).toEqual(['2025-03-02 acme/secret 7'])
  })

  it('withholds a model that the registry does not know, and says which and how much', async () => {
    const records = [
      { model_permaslug: 'acme/known', prompt_tokens: '5' },
      { model_permaslug: 'acme/unknown', prompt_tokens: '30', completion_tokens: '4' },
      { model_permaslug: 'acme/unknown', prompt_tokens: '6' },
    ]
    const { rows, summary } = await publish({
      sources: [{ records, settings: { visibility: 'registry' } }],
      models: [{ model_permaslug: 'acme/known' }],
    })
    expect(rows).toEqual(['2025-03-02 acme/known 5'])
    expect(summary.records.withheld.map(({ model, records, tokens }) => [model, records, String(tokens)])).toEqual([
      ['acme/unknown', 2, '40'],
    ])
  })

  it('asks the registry when the source does not say what its visibility is', async () => {
    const records = ['acme/open', 'acme/closed'].map((slug) => ({ model_permaslug: slug, prompt_tokens: '5' }))
    const { rows } = await publish({
      sources: [{ records, settings: { visibility: undefined } }],
      models: [{ model_permaslug: 'acme/open' }, { model_permaslug: 'acme/closed', public: false }],
    })
    expect(rows).toEqual(['2025-03-02 acme/open 5'])
  })
})

describe('decision 6.4: a model with zero tokens on a date is left out of that date before ranking', () => {
  it('has no row of zero', async () => {
    const { rows } = await publish([
      { model_permaslug: 'a', prompt_tokens: '0' },
      { model_permaslug: 'b', prompt_tokens: '1' },
    ])
    expect(rows).toEqual(['2025-03-02 b 1'])
  })

  it('leaves it out of the count that makes `other`', async () => {
    const { rows } = await publish(crowd(51, (index) => (index === 50 ? 0 : 1)))
    expect(rows).toHaveLength(50)
  })

  it('leaves it out of that date alone', async () => {
    const { rows } = await publish([...crowd(1, () => 0, '2025-03-02'), ...crowd(1, () => 1, '2025-03-03')])
    expect(rows).toEqual(['2025-03-03 crowd/model-001 1'])
  })

  it('keeps a model whose sum is not zero although one of its records is', async () => {
    const { rows } = await publish([...crowd(1, () => 0), ...crowd(1, () => 1)])
    expect(rows).toEqual(['2025-03-02 crowd/model-001 1'])
  })
})

describe('decision 6.5: ties break by code point order of the slug, also at the cut', () => {
  it.each([
    ['upper case before lower case', ['a/Z', 'a/a']],
    ['punctuation before letters', ['a-b', 'a/b', 'a:b', 'a_b', 'aab']],
    ['a prefix before what continues it', ['a/b', 'a/b-1']],
    ['ASCII before accents', ['a/z', 'a/é']],
    ['U+FF5E before U+1F600, which in UTF-16 comes first', ['a/\uff5e', 'a/\u{1f600}']],
  ])('puts %s', async (_, slugs) => {
    const { rows } = await publish(slugs.toReversed().map((slug) => ({ model_permaslug: slug, prompt_tokens: '1' })))
    expect(rows).toEqual(slugs.map((slug) => `2025-03-02 ${slug} 1`))
  })

  it.each([
    ['a/Z', 'a/a'],
    ['a/\uff5e', 'a/\u{1f600}'],
  ])('between rank 50 and 51 keeps %s and drops %s', async (kept, dropped) => {
    const tied = [dropped, kept].map((slug) => ({ model_permaslug: slug, prompt_tokens: '1' }))
    const { rows } = await publish([...crowd(49, () => 9), ...tied])
    expect(rows.slice(49)).toEqual([`2025-03-02 ${kept} 1`, '2025-03-02 other 1'])
  })
})

describe('decision 6.6: slugs that are rejected', () => {
  it.each([
    ['an empty one', ''],
    ['one of 301 characters', 'x'.repeat(301)],
    ['one with a tab', 'a\tb'],
    ['one with a line feed', 'a\nb'],
    ['one with U+0000', 'a\0b'],
    ['one with U+001F', 'a\x1fb'],
    ['one with U+007F', 'a\x7fb'],
    ['one with U+0085', 'a\x85b'],
    ['one that begins with =', '=a'],
    ['one that begins with +', '+a'],
    ['one that begins with -', '-a'],
    ['one that begins with @', '@a'],
    ['the reserved one', 'other'],
  ])('rejects %s', async (_, slug) => {
    const { rows, summary } = await publishBeside([{ model_permaslug: slug, prompt_tokens: '5' }])
    expect(rows).toEqual(['2025-03-02 bystander 1'])
    expect(summary.records.rejected).toMatchObject({ invalid_model: 1 })
  })

  it.each([
    ['300 characters', 'x'.repeat(300)],
    ['300 characters beyond the basic plane', '\u{1f600}'.repeat(300)],
    ['=, +, - and @ after the first character', 'a=+-@'],
    ['the reserved word in another case', 'Other'],
    ['the reserved word as a part', 'other/other'],
    ['the reserved word with a variant', 'other:free'],
  ])('accepts %s', async (_, slug) => {
    const { rows, summary } = await publishBeside([{ model_permaslug: slug, prompt_tokens: '5' }])
    expect(rows).toEqual([`2025-03-02 ${slug} 5`, '2025-03-02 bystander 1'])
    expect(summary.records.published).toBe(2)
  })
})

describe('decision 6.7: records are de-duplicated by (request_id, UTC date) within a source', () => {
  const one = {
    timestamp: '2025-03-02T12:00:00Z',
    model_permaslug: 'a',
    prompt_tokens: '10',
    completion_tokens: '5',
    request_id: 'r1',
  }

  async function kept(...copies: FileRecord[]): Promise<string[]> {
    const [forward, backward] = [await publish(copies), await publish(copies.toReversed())]
    expect(backward.rows).toEqual(forward.rows)
    expect(forward.summary.records.duplicates).toBe(
      copies.length - forward.summary.records.published - forward.summary.records.private,
    )
    return forward.rows
  }

  it('counts equal copies once, and says how many it left out', async () => {
    const { rows, summary } = await publish([one, one, one])
    expect(rows).toEqual(['2025-03-02 a 15'])
    expect(summary.records).toMatchObject({ read: 3, published: 1, duplicates: 2 })
  })

  it('finds copies in different files of a source', async () => {
    const workspace = await newWorkspace()
    for (const name of ['early.csv.gz', 'late.ndjson', 'again.parquet']) {
      await writeRecords(join(workspace.input, name), [one], { columns: COLUMNS })
    }
    const source = {
      name: 's',
      schema: 'canonical',
      files: ['early.csv.gz', 'late.ndjson', 'again.parquet'],
      visibility: 'public',
    }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    await buildIn(workspace)
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-02 a 15'])
  })

  it('takes the same id of two sources for two requests', async () => {
    const { rows } = await publish({ sources: [{ records: [one] }, { records: [one] }] })
    expect(rows).toEqual(['2025-03-02 a 30'])
  })

  it('takes the same id on two dates for two requests', async () => {
    const { rows } = await publish([one, { ...one, timestamp: '2025-03-03T00:00:00Z' }])
    expect(rows).toEqual(['2025-03-02 a 15', '2025-03-03 a 15'])
  })

  it('counts an id that was delivered twice on each of two dates once on each', async () => {
    const nextDay = { ...one, timestamp: '2025-03-03T00:00:00Z' }
    const { rows } = await publish([one, nextDay, one, nextDay])
    expect(rows).toEqual(['2025-03-02 a 15', '2025-03-03 a 15'])
  })

  it('tells dates by UTC: the same instant in two zones is one request', async () => {
    const { rows } = await publish([one, { ...one, timestamp: '2025-03-03T01:00:00+13:00' }])
    expect(rows).toEqual(['2025-03-02 a 15'])
  })

  it('counts every record without an id', async () => {
    const { rows } = await publish([
      { ...one, request_id: '' },
      { ...one, request_id: '' },
    ])
    expect(rows).toEqual(['2025-03-02 a 30'])
  })

  it('compares ids as written', async () => {
    const { rows } = await publish([one, { ...one, request_id: 'R1' }, { ...one, request_id: 'r1 ' }])
    expect(rows).toEqual(['2025-03-02 a 45'])
  })

  it('keeps the latest of copies that disagree', async () => {
    expect(await kept({ ...one, timestamp: '2025-03-02T12:00:00.000001Z' }, { ...one, prompt_tokens: '99' })).toEqual([
      '2025-03-02 a 15',
    ])
  })

  it('then the one with the most prompt tokens, compared as numbers', async () => {
    expect(
      await kept({ ...one, prompt_tokens: '10' }, { ...one, prompt_tokens: '9', completion_tokens: '99' }),
    ).toEqual(['2025-03-02 a 15'])
  })

  it('then the one with the most completion tokens', async () => {
    expect(
      await kept({ ...one, completion_tokens: '100', model_permaslug: 'a' }, { ...one, model_permaslug: 'b' }),
    ).toEqual(['2025-03-02 a 110'])
  })

  it('then the one with the greatest model, by code point', async () => {
    expect(await kept({ ...one, model_permaslug: '\uff5e' }, { ...one, model_permaslug: '\u{1f600}' })).toEqual([
      '2025-03-02 \u{1f600} 15',
    ])
  })

  it('then a private one before a public one', async () => {
    const bystander = { ...one, request_id: 'r2' }
    const copies = [
      { ...one, visibility: 'private' },
      { ...one, visibility: 'public' },
    ]
    expect(await kept(bystander, ...copies)).toEqual(['2025-03-02 a 15'])
  })

  it('but keeps a public one of a greater model before a private one', async () => {
    const greater = { ...one, model_permaslug: 'b', visibility: 'public' }
    expect(await kept(greater, { ...one, visibility: 'private' })).toEqual(['2025-03-02 b 15'])
  })

  it('but keeps a later public one before an earlier private one', async () => {
    const later = { ...one, timestamp: '2025-03-02T13:00:00Z', visibility: 'public' }
    expect(await kept(later, { ...one, visibility: 'private' })).toEqual(['2025-03-02 a 15'])
  })

  it('gives one answer, whatever their order, when one copy says it is public and the other says nothing', async () => {
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

  it('never lets a rejected record stand for a right one', async () => {
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

describe('decision 6.8: the form of a token count', () => {
  it.each(['7', '007', '+7', ' 7', '7 ', '  +7.0  ', '7.000'])('reads the text "%s" as 7', async (text) => {
    const { rows } = await publish([{ model_permaslug: 'a', prompt_tokens: text }])
    expect(rows).toEqual(['2025-03-02 a 7'])
  })

  it('accepts 2^53 − 1', async () => {
    const { rows } = await publish([{ model_permaslug: 'a', prompt_tokens: '9007199254740991' }])
    expect(rows).toEqual(['2025-03-02 a 9007199254740991'])
  })

  it.each([
    '-1',
    '1.5',
    '1e3',
    '7.',
    '.0',
    '0x7',
    '1,000',
    '1_000',
    'NaN',
    'null',
    '\t7',
    '+ 7',
    '٧',
    '9007199254740992',
    '99999999999999999999999999',
  ])('rejects the text "%s"', async (text) => {
    const { rows, summary } = await publishBeside([{ model_permaslug: 'a', prompt_tokens: text }])
    expect(rows).toEqual(['2025-03-02 bystander 1'])
    expect(summary.records.rejected).toEqual({ invalid_token_count: 1 })
  })
})

describe('decision 6.8: a JSON number counts when its value is a non-negative integer up to 2^53 − 1', () => {
  async function buildWithNumber(json: string) {
    const workspace = await newWorkspace()
    const line = (model: string, tokens: string) =>
      `{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"${model}","prompt_tokens":${tokens},"completion_tokens":null}\n`
    await writeInput(workspace, 'usage.ndjson', line('a', json) + line('bystander', '1'))
    const source = { name: 's', schema: 'canonical', files: ['usage.ndjson'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
    const summary = await buildIn(workspace)
    return { summary, rows: rowsOf(await publishedCsv(workspace)) }
  }

  async function rejectsNumber(json: string): Promise<void> {
    const { rows, summary } = await buildWithNumber(json)
    expect(rows).toEqual(['2025-03-02 bystander 1'])
    expect(summary.records.rejected).toEqual({ invalid_token_count: 1 })
  }

  it.each([
    ['7', '7'],
    ['7.0', '7'],
    ['7e2', '700'],
    ['0.7e1', '7'],
    ['9007199254740991', '9007199254740991'],
    ['"7"', '7'],
    ['" +7.0 "', '7'],
  ])('reads %s as %s', async (json, tokens) => {
    const { rows } = await buildWithNumber(json)
    expect(rows).toContain(`2025-03-02 a ${tokens}`)
  })

  it.each(['-1', '1.5', '1e-1', '9007199254740992', '1e300', 'true', '[7]', '{"count":7}', '"7e2"'])(
    'rejects %s',
    rejectsNumber,
  )
})

describe('decision 6.9: a file that cannot be read whole fails the build and names the file', () => {
  const records = crowd(2000, (index) => index + 1)

  /** Builds a source of one whole file and one that `damage` changed. */
  async function buildWith(name: string, damage: (bytes: Uint8Array) => Uint8Array): Promise<string[]> {
    const workspace = await newWorkspace()
    await writeRecords(
      join(workspace.input, 'whole.csv'),
      crowd(1, () => 1),
      { columns: COLUMNS },
    )
    await writeRecords(join(workspace.input, name), records, { columns: COLUMNS })
    await writeInput(workspace, name, damage(await readFile(join(workspace.input, name))))
    const source = { name: 's', schema: 'canonical', files: ['whole.csv', name], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
    await buildIn(workspace)
    return rowsOf(await publishedCsv(workspace))
  }

  const half = (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1)
  const withoutEnd = (bytes: Uint8Array) => bytes.subarray(0, -6)
  const twice = (bytes: Uint8Array) => Buffer.concat([bytes, bytes])

  it.each([
    ['usage.csv.gz', 'cut in half', half],
    ['usage.csv.gz', 'without its trailer', withoutEnd],
    ['usage.ndjson.gz', 'cut in half', half],
    ['usage.ndjson.gz', 'without its trailer', withoutEnd],
    ['usage.csv.zst', 'cut in half', half],
    ['usage.ndjson.zst', 'cut in half', half],
    ['usage.parquet', 'cut in half', half],
    ['usage.parquet', 'without its footer', withoutEnd],
    ['usage.csv.gz', 'that is no gzip', () => Buffer.from('timestamp,model_permaslug\n')],
    ['usage.parquet', 'that is no Parquet', () => Buffer.from('timestamp,model_permaslug\n')],
  ] as const)('fails for %s %s', async (name, _, damage) => {
    const failed = expect(buildWith(name, damage)).rejects
    await failed.toThrow(BuildError)
    await failed.toThrow(name)
  })

  it.each(['usage.csv', 'usage.csv.gz', 'usage.csv.zst', 'usage.ndjson.gz', 'usage.ndjson.zst', 'usage.parquet'])(
    'reads the whole %s',
    async (name) => {
      const rows = await buildWith(name, (bytes) => bytes)
      expect(rows[0]).toBe('2025-03-02 crowd/model-2000 2000')
      expect(rows.at(-1)).toBe(`2025-03-02 other ${(1950 * 1951) / 2 + 1}`)
    },
  )

  it.each(['usage.ndjson.gz', 'usage.ndjson.zst'])(
    'reads %s to its end when it has two compressed parts, one after the other',
    async (name) => {
      const rows = await buildWith(name, twice)
      expect(rows[0]).toBe('2025-03-02 crowd/model-2000 4000')
    },
  )
})

describe('decision 6.10: what is not published', () => {
  const at = (timestamp: string): FileRecord => ({ timestamp, model_permaslug: 'a', prompt_tokens: '1' })
  const sources = (...records: FileRecord[]): SmallSource[] => [{ records }]

  it('leaves out days before 2025-01-01 and counts them', async () => {
    const { rows, summary } = await publish([at('2024-12-31T23:59:59.999999Z'), at('2025-01-01T00:00:00Z')])
    expect(rows).toEqual(['2025-01-01 a 1'])
    expect(summary.records).toMatchObject({ read: 2, published: 1, before_dataset_start: 1, not_yet_complete: 0 })
  })

  it('leaves out the day of AS_OF and later ones, and counts them', async () => {
    const records = sources(at('2025-03-02T23:59:59.999999Z'), at('2025-03-03T00:00:00Z'), at('2031-01-01T00:00:00Z'))
    const { rows, summary } = await publish({ sources: records, asOf: '2025-03-03T23:59:59Z' })
    expect(rows).toEqual(['2025-03-02 a 1'])
    expect(summary.records).toMatchObject({ read: 3, published: 1, before_dataset_start: 0, not_yet_complete: 2 })
  })

  it('publishes a day from the midnight on that ends it, and not a second before', async () => {
    const records = sources(at('2025-03-01T12:00:00Z'), at('2025-03-02T12:00:00Z'))
    const before = await publish({ sources: records, asOf: '2025-03-02T23:59:59Z' })
    expect(before.rows).toEqual(['2025-03-01 a 1'])
    const after = await publish({ sources: records, asOf: '2025-03-03T00:00:00Z' })
    expect(after.rows).toEqual(['2025-03-01 a 1', '2025-03-02 a 1'])
  })

  it.each([
    ['before the dataset', at('2024-12-31T12:00:00Z')],
    ['not yet complete', at('2031-01-01T00:00:00Z')],
    ['private', { ...at('2025-03-02T12:00:00Z'), visibility: 'private' }],
    ['without tokens', { ...at('2025-03-02T12:00:00Z'), prompt_tokens: '0' }],
  ])('fails when every record is %s', async (_, record) => {
    await expect(publish([record])).rejects.toThrow(BuildError)
  })
})

describe('decision 6.12: a record counts with the tokens it carries, whatever its status', () => {
  it.each(['success', 'failure', 'cancelled', '500', 'anything'])('counts one of status %s', async (status) => {
    const records = [{ model_permaslug: 'a', prompt_tokens: '4', status }]
    const { rows } = await publish({ sources: [{ records, extraColumns: ['status'] }] })
    expect(rows).toEqual(['2025-03-02 a 4'])
  })
})

describe('decision 6.13: timestamps are read in UTC, and no fraction rounds a record into the next day', () => {
  async function dateOf(timestamp: string, settings?: Record<string, unknown>): Promise<string | undefined> {
    const { csv } = await publish({
      sources: [{ records: [{ timestamp, model_permaslug: 'a', prompt_tokens: '1' }], settings }],
    })
    return rowsOf(csv)[0]?.split(' ')[0]
  }

  it.each([
    ['2025-03-02T23:59:59Z', '2025-03-02'],
    ['2025-03-02T23:59:59.9Z', '2025-03-02'],
    ['2025-03-02T23:59:59.999Z', '2025-03-02'],
    ['2025-03-02T23:59:59.999999Z', '2025-03-02'],
    ['2025-03-02T23:59:59.9999999Z', '2025-03-02'],
    ['2025-03-02T23:59:59.999999999Z', '2025-03-02'],
    ['2025-03-02 23:59:59.9999999', '2025-03-02'],
    ['2025-03-03T07:59:59.999999999+08:00', '2025-03-02'],
    ['2025-03-03T00:00:00.000000001Z', '2025-03-03'],
    ['2025-03-03T00:00:00Z', '2025-03-03'],
  ])('puts %s on %s', async (timestamp, date) => {
    expect(await dateOf(timestamp)).toBe(date)
  })

  it.each([
    ['2025-03-03T00:00:00+08:00', '2025-03-02'],
    ['2025-03-03T08:00:00+08:00', '2025-03-03'],
    ['2025-03-02T18:59:59-05:00', '2025-03-02'],
    ['2025-03-02T19:00:00-05:00', '2025-03-03'],
    ['2025-03-03T05:29:59+05:30', '2025-03-02'],
    ['2025-03-03T05:30:00+05:30', '2025-03-03'],
    ['2025-03-03T13:59:59+14:00', '2025-03-02'],
    ['2025-03-02T12:00:00-12:00', '2025-03-03'],
    ['2025-03-02T23:59:59-00:01', '2025-03-03'],
  ])('takes the offset of %s to %s', async (timestamp, date) => {
    expect(await dateOf(timestamp)).toBe(date)
  })

  it.each([
    ['2025-03-02T19:00:00', 'America/New_York', '2025-03-03'],
    ['2025-03-02T18:59:59.999999', 'America/New_York', '2025-03-02'],
    ['2025-07-02T20:00:00', 'America/New_York', '2025-07-03'],
    ['2025-07-02T19:59:59.999999', 'America/New_York', '2025-07-02'],
    ['2025-03-03 07:59:59', 'Asia/Shanghai', '2025-03-02'],
    ['2025-03-03 05:45:00', 'Asia/Kathmandu', '2025-03-03'],
    ['2025-03-03 05:44:59', 'Asia/Kathmandu', '2025-03-02'],
  ])('reads %s in the declared zone %s as %s', async (timestamp, timezone, date) => {
    const records = [{ timestamp, model_permaslug: 'a', prompt_tokens: '1' }]
    const { rows } = await publish({ sources: [{ records, settings: { timezone } }], asOf: '2025-08-01T00:00:00Z' })
    expect(rows).toEqual([`${date} a 1`])
  })

  it('lets an offset win over the declared zone', async () => {
    expect(await dateOf('2025-03-02T23:00:00Z', { timezone: 'Asia/Shanghai' })).toBe('2025-03-02')
  })

  it.each([
    ['3599.9999999', 'seconds'],
    ['3599.9999999999', 'seconds'],
    ['3599.9999999999995', 'seconds'],
    ['3599999.9999', 'milliseconds'],
    ['3599999.9999999999', 'milliseconds'],
  ])('keeps the relative timestamp %s, in %s after 23:00, before midnight', async (timestamp, time_unit) => {
    expect(await dateOf(timestamp, { base_time: '2025-03-02T23:00:00Z', time_unit })).toBe('2025-03-02')
  })

  it.each([
    '2025-02-30T12:00:00Z',
    '2025-13-01T12:00:00Z',
    '2025-03-02T25:00:00Z',
    '2025-03-02T12:60:00Z',
    'yesterday',
    '',
  ])('rejects "%s", which is no instant', async (timestamp) => {
    const { rows, summary } = await publishBeside([{ timestamp, model_permaslug: 'a', prompt_tokens: '5' }])
    expect(rows).toEqual(['2025-03-02 bystander 1'])
    expect(summary.records.rejected).toEqual({ invalid_timestamp: 1 })
  })
})
