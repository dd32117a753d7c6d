import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BuildError } from '../../pipeline/base/errors.ts'
import { readRejects } from '../../pipeline/rollup/list-rejects.ts'
import {
  AS_OF,
  buildIn,
  csvOf,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  runCli,
  settings,
  sha256,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'

const HEADER = 'utc_date,model_permaslug,tokens,requests\n'

async function withFiles(files: Record<string, string>, top: Record<string, unknown> = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  await describeFiles(workspace, Object.keys(files), top)
  return workspace
}

const describeFiles = (workspace: Workspace, files: readonly string[], top: object = {}) =>
  writeInput(workspace, 'sources.json', { ...top, engine: { rollup_files: files, visibility: 'public' } })

describe('files of sums', () => {
  it('are summed per day and model beyond 2^53 in every format, and wrong rows are rejected with their reasons', async () => {
    // A month of three such dates still fits 64 bits.
    const large = 2n ** 61n - 4n
    const wrong = [
      '2025-3-2,a,1,1',
      '2025-03-02,=a,1,1',
      '2025-03-02,a,-1,1',
      '2025-03-02,a,1,0',
      '2025-03-02,a,9223372036854775808,1',
      '2025-03-02,a,1,1,1',
    ]
    const workspace = await withFiles({
      'a.csv': `${HEADER}2025-03-02,acme/one,100,7\n2025-03-02,acme/two,50,1\n2025-03-03,acme/one,${large},2\n`,
      'b.ndjson': [
        '{"utc_date":"2025-03-02","model_permaslug":"acme/one","tokens":1,"requests":3}\n',
        `{"utc_date":"2025-03-04","model_permaslug":"acme/one","tokens":${large},"requests":1}\n`,
      ].join(''),
      'wrong.csv': `${HEADER}${wrong.join('\n')}\n`,
    })
    for (const [name, day, tokens, requests] of [
      ['c', "'2025-03-05'", large, '1'],
      ['d', "DATE '2025-03-06'", 9007199254740991n, '1::BIGINT'],
      ['e', "'2025-03-06'", 9007199254740991n, '1::BIGINT'],
    ] as const) {
      const select = `SELECT ${day} AS utc_date, 'acme/one' AS model_permaslug, ${tokens}::DECIMAL(38, 0) AS tokens, ${requests} AS requests`
      await query(`COPY (${select}) TO ${sqlText(join(workspace.input, `${name}.parquet`))}`)
    }
    await describeFiles(workspace, ['*.csv', 'b.ndjson', '*.parquet'], { max_rejected_share: 1 })
    const { records } = await buildIn(workspace)
    expect(await publishedCsv(workspace)).toBe(
      csvOf([
        ['2025-03-02', 'acme/one', 101],
        ['2025-03-02', 'acme/two', 50],
        ['2025-03-03', 'acme/one', large],
        ['2025-03-04', 'acme/one', large],
        ['2025-03-05', 'acme/one', large],
        ['2025-03-06', 'acme/one', 2n * 9007199254740991n],
      ]),
    )
    const rejected = { malformed_record: 1, invalid_timestamp: 1, invalid_token_count: 3, invalid_model: 1 }
    expect(records).toMatchObject({ published: 17, rejected })
    expect(await Array.fromAsync(readRejects(workspace.dataDir))).toHaveLength(wrong.length)
  })

  it('are resolved by the registry as raw files are', async () => {
    const workspace = await withFiles({
      'a.csv': `${HEADER}2025-03-02,one,10,1\n2025-03-02,acme/secret,20,2\n2025-03-02,acme/new,30,3\n`,
    })
    await writeInput(workspace, 'models.json', [
      { model_permaslug: 'acme/one', aliases: ['one'], public: true },
      { model_permaslug: 'acme/secret', public: false },
    ])
    await writeInput(workspace, 'sources.json', {
      models: 'models.json',
      max_withheld_share: 1,
      engine: { rollup_files: ['a.csv'] },
    })
    const { records } = await buildIn(workspace)
    expect(await publishedCsv(workspace)).toBe(csvOf([['2025-03-02', 'acme/one', 10]]))
    expect(records).toMatchObject({
      published: 1,
      private: 2,
      withheld: [{ model: 'acme/new', records: 3, tokens: '30' }],
    })
  })

  it('count as one row each in the share of rejected rows, however many requests they sum', async () => {
    const good = [2, 3, 4].map((day) => `2025-03-0${day},acme/one,1,1000000\n`).join('')
    const files = { 'a.csv': `${HEADER}${good}2025-03-02,acme/two,-1,1\n` }
    const workspace = await withFiles(files, { max_rejected_share: 0.24 })
    await expect(buildIn(workspace)).rejects.toThrow('1 of 4 rows (25.00 %) were rejected')
    await describeFiles(workspace, ['a.csv'], { max_rejected_share: 0.25 })
    await buildIn(workspace)
  })

  it('stop the build if they lack a column, or have tokens that round large sums', async () => {
    for (const [content, message] of [
      ['utc_date,model,tokens,requests\n2025-03-02,a,1,1\n', 'model_permaslug'],
      ['utc_date,model_permaslug,tokens\n2025-03-02,a,1\n', 'requests'],
    ] as const) {
      const failed = buildIn(await withFiles({ 'a.csv': content }))
      await expect(failed).rejects.toThrow(BuildError)
      await expect(failed).rejects.toThrow(message)
    }
    const workspace = await withFiles({})
    await describeFiles(workspace, ['a.parquet'])
    for (const type of ['DOUBLE', 'FLOAT']) {
      await query(`COPY (SELECT DATE '2025-03-02' AS utc_date, 'acme/one' AS model_permaslug, 1e6::${type} AS tokens,
        1 AS requests) TO ${sqlText(join(workspace.input, 'a.parquet'))}`)
      const message = `a.parquet: "tokens" is ${type}, which rounds large sums; CAST it to DECIMAL(38, 0)`
      await expect(buildIn(workspace)).rejects.toThrow(message)
    }
  })

  it('are not kept beside new files for the same days', async () => {
    const workspace = await withFiles({
      'a-1.csv': `${HEADER}2025-03-02,acme/one,1,1\n`,
      'b.csv': `${HEADER}2025-03-03,acme/one,2,1\n`,
    })
    const keep = (name: string) => describeFiles(workspace, [name], { on_missing: 'keep' })
    await keep('*.csv')
    await buildIn(workspace)
    await rm(join(workspace.input, 'a-1.csv'))
    await writeInput(workspace, 'a-2.csv', `${HEADER}2025-03-02,acme/one,4,2\n`)
    const failed = buildIn(workspace, '2025-03-10T13:00:00Z')
    await expect(failed).rejects.toThrow(BuildError)
    await expect(failed).rejects.toThrow('a-1.csv is missing, and new files also have rows of 2025-03-02')
    await expect(failed).rejects.toThrow('"on_missing": "remove"')
    await rm(join(workspace.input, 'a-2.csv'))
    await buildIn(workspace, '2025-03-10T14:00:00Z')
    const days: [string, string, number][] = [
      ['2025-03-02', 'acme/one', 1],
      ['2025-03-03', 'acme/one', 2],
    ]
    expect(await publishedCsv(workspace)).toBe(csvOf(days))
    await writeInput(workspace, 'a-2.csv', `${HEADER}2025-03-02,acme/one,4,2\n`)
    const restated = buildIn(workspace, '2025-03-10T15:00:00Z')
    await expect(restated).rejects.toThrow('would count twice')
    await expect(restated).rejects.not.toThrow('on_missing')
    await rm(join(workspace.input, 'a-2.csv'))
    await writeInput(workspace, 'c.csv', `${HEADER}2025-03-04,acme/one,8,1\n`)
    await buildIn(workspace, '2025-03-10T16:00:00Z')
    expect(await publishedCsv(workspace)).toBe(csvOf([...days, ['2025-03-04', 'acme/one', 8]]))
  })

  it('have stable names in provenance.json that only their publisher can compute, and are read again if they change', async () => {
    const content = `${HEADER}2025-03-02,acme/one,1,1\n`
    const files = { 'a.csv': content, 'b.csv': `${HEADER}2025-03-03,acme/one,2,1\n` }
    const workspace = await withFiles(files)
    const inputs = async (of = workspace): Promise<{ sha256: string }[]> =>
      JSON.parse(await readFile(join(of.dataDir, 'provenance', `${basename(await releaseFolder(of))}.json`), 'utf8'))
        .inputs
    await buildIn(workspace)
    const first = await inputs()
    expect(first).toHaveLength(2)
    expect(first.map((input) => input.sha256)).not.toContain(sha256(content))
    expect(await runCli(['reproduce'], settings(workspace, AS_OF))).toMatchObject({ code: 0 })

    await writeInput(workspace, 'b.csv', `${HEADER}2025-03-03,acme/one,3,1\n`)
    await buildIn(workspace, '2025-03-10T13:00:00Z')
    expect(await publishedCsv(workspace)).toBe(
      csvOf([
        ['2025-03-02', 'acme/one', 1],
        ['2025-03-03', 'acme/one', 3],
      ]),
    )
    const hashes = new Set(first.map((input) => input.sha256))
    expect((await inputs()).filter((input) => hashes.has(input.sha256))).toHaveLength(1)

    // Nobody else can make the same names: the key is the publisher's own.
    const other = await withFiles(files)
    await buildIn(other)
    expect((await inputs(other)).filter((input) => hashes.has(input.sha256))).toEqual([])
  })
})
