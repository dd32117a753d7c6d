import { link, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { findInputFiles } from '../../../pipeline/raw/files/find.ts'
import { Source } from '../../../pipeline/raw/sources.ts'
import {
  buildIn,
  newWorkspace,
  publishedCsv,
  rowsOf,
  type Workspace,
  writeInput,
  writeSource,
} from '../../support/pipeline.ts'

describe('the files of a source', () => {
  it.each(['https://example.org/a.csv', 's3://logs/gateway/2025-*.csv', 'gs://logs/', 'S3://key:secret@logs/**'])(
    'cannot be the URL %s: one sentence says what to do, without what may be secret',
    async (url) => {
      const workspace = await newWorkspace()
      await writeSource(workspace, [url])
      const failed = buildIn(workspace)
      await expect(failed).rejects.toThrow(CliError)
      const scheme = url.replace(/:.*/, '')
      await expect(failed).rejects.toThrow(
        `: ${scheme}:// URLs are not read: rclone sync or aws s3 sync the files into a folder and name them there, then build`,
      )
      await expect(failed).rejects.not.toThrow('logs')
    },
  )
})

const read = (files: string[], more: object = {}): Source =>
  Source.parse({ name: 'bucket', schema: 'canonical', files, ...more })

async function namesOf(workspace: Workspace, ...files: string[]): Promise<string[]> {
  return (await findInputFiles(read(files), { folder: workspace.input })).files.map(({ name }) => name)
}

describe('names that begin with an underscore or a dot', () => {
  it('are not matched by wildcards, as in Spark and Hive, but by a pattern that begins so, and by their name', async () => {
    const workspace = await newWorkspace()
    const names = ['_delta_log/0.json', '_x.csv', '.y.csv', 'a.csv', 'b/_temporary/c.csv', 'b/_d.csv', 'b/e.csv']
    for (const name of names) await writeInput(workspace, name, 'x')
    expect(await namesOf(workspace, '**/*.{csv,json}')).toEqual(['a.csv', 'b/e.csv'])
    expect(await namesOf(workspace, '*.csv', '_x.csv')).toEqual(['_x.csv', 'a.csv'])
    expect(await namesOf(workspace, '**/_*.csv', '_delta_log/*')).toEqual(['_delta_log/0.json', '_x.csv', 'b/_d.csv'])
    expect(await namesOf(workspace, 'b/{_temporary,none}/*', './*.csv')).toEqual(['a.csv', 'b/_temporary/c.csv'])
  })
})

describe('links', () => {
  it('and hard links and their file are one file, under its own name', async () => {
    const workspace = await newWorkspace()
    const { input } = workspace
    await writeInput(workspace, 'logs/b.csv', 'x')
    await writeInput(workspace, 'logs/c.csv', 'x')
    await symlink('b.csv', join(input, 'logs/a.csv'))
    await symlink('logs', join(input, 'a'))
    await link(join(input, 'logs/b.csv'), join(input, 'logs/z.csv'))
    expect(await namesOf(workspace, 'logs/*.csv', 'a/*.csv')).toEqual(['logs/b.csv', 'logs/c.csv'])
    expect(await namesOf(workspace, 'logs/a.csv')).toEqual(['logs/a.csv'])
  })

  it('and their file are one file in all folders, hard links only where the columns in their paths are the same', async () => {
    const workspace = await newWorkspace()
    const { input } = workspace
    await writeInput(workspace, 'date=1/a.csv', 'x')
    await mkdir(join(input, 'date=2'))
    for (const name of ['date=1/b.csv', 'date=2/a.csv']) await link(join(input, 'date=1/a.csv'), join(input, name))
    await symlink('date=1', join(input, 'date=now'))
    const source = read(['*/*.csv'], { hive: true, columns: { timestamp: 'date' } })
    const { files } = await findInputFiles(source, { folder: input })
    expect(files.map(({ name }) => name)).toEqual(['date=1/a.csv', 'date=2/a.csv'])
  })

  it('that lead nowhere or to themselves stop a build, matched or named', async () => {
    const workspace = await newWorkspace()
    await symlink('missing.csv', join(workspace.input, 'a.csv'))
    for (const entry of ['*.csv', 'a.csv']) {
      const found = namesOf(workspace, entry)
      await expect(found).rejects.toThrow(CliError)
      await expect(found).rejects.toThrow('source "bucket": a.csv is a link to missing.csv, which does not exist')
    }
    await rm(join(workspace.input, 'a.csv'))
    await symlink('a.csv', join(workspace.input, 'a.csv'))
    await expect(namesOf(workspace, '*.csv')).rejects.toThrow('a.csv is a link to a.csv, which leads back to it')
  })
})

describe('columns in the path', () => {
  const COLUMNS = { columns: { timestamp: { path: 'date', unit: 'day' }, model_permaslug: 'model' } }

  async function columnsOf(name: string, entry: string, more: object = {}): Promise<unknown> {
    const workspace = await newWorkspace()
    await writeInput(workspace, name, 'x')
    const source = read([entry], { ...COLUMNS, ...more })
    const { files } = await findInputFiles(source, { folder: workspace.input })
    return files.map(({ columns }) => columns)
  }

  it.each([
    ['a/2025-03-01.csv', '{model}/{date}.csv', { model: 'a', date: '2025-03-01' }],
    ['x/gpt-4o-2025-03-01.csv.gz', './*/{model}-{date}.{csv,csv.gz}', { model: 'gpt-4o', date: '2025-03-01' }],
    ['x/y/a/20250301-1.csv', '**/{model}/{date}-[0-9]?csv', { model: 'a', date: '2025-03-01' }],
    ['a/b/a.csv', '{model}/**/{model}.csv', { model: 'a' }],
    ['{x}/a+b.csv', '*/{model}.csv', { model: 'a+b' }],
    ['x[/a.csv', '[!a-w][[]/{model}.csv', { model: 'a' }],
    ['2025/3/1/a.csv', '{year}/{month}/{day}/{model}.csv', { model: 'a', 'year/month/day': '2025-03-01' }],
    ['a/b.csv', '*/*.csv', undefined],
  ])('of %s are named by %s', async (name, entry, expected) => {
    expect(await columnsOf(name, entry)).toEqual([expected])
  })

  it('leave out files whose date is none, and say so unless another entry names them', async () => {
    const workspace = await newWorkspace()
    for (const name of ['2025-03-01', '2025-03-02.1', 'sum', '_x']) await writeInput(workspace, `a/${name}.csv`, 'x')
    const found = await findInputFiles(read(['{model}/{date}.csv', 'a/sum.csv'], COLUMNS), { folder: workspace.input })
    expect(found.files.map(({ name }) => name)).toEqual(['a/2025-03-01.csv', 'a/sum.csv'])
    expect(found.unfit).toEqual([{ pattern: '{model}/{date}.csv', names: ['a/2025-03-02.1.csv'] }])
  })

  it('are folders of Hive, decoded, and only what the source reads', async () => {
    const hive = { hive: true }
    const name = 'date=2025-03-01/hour=3/model=acme%2Fone%20a=b/x.csv'
    expect(await columnsOf(name, '**/*.csv')).toEqual([undefined])
    expect(await columnsOf(name, '**/*.csv', hive)).toEqual([{ date: '2025-03-01', model: 'acme/one a=b' }])
    expect(await columnsOf('model=__HIVE_DEFAULT_PARTITION__/a.csv', '**', hive)).toEqual([{ model: null }])
    expect(await columnsOf('model=50%/a.csv', '**', hive)).toEqual([{ model: '50%' }])
  })
})

it('a date that is made of year, month and day in the path gives way to the own date of a record', async () => {
  const workspace = await newWorkspace()
  await writeSource(workspace, ['logs/**/*'], { hive: true, columns: { timestamp: 'date' } })
  const folder = 'logs/year=2025/month=3/day=05'
  const csv = 'model_permaslug,prompt_tokens,completion_tokens'
  await writeInput(workspace, `${folder}/a.csv`, `${csv}\nacme/csv,1,0\n`)
  await writeInput(workspace, `${folder}/b.csv`, `date,${csv}\n2025-03-01T10:00:00Z,acme/csv,2,0\n`)
  const json = { model_permaslug: 'acme/json', prompt_tokens: 3, completion_tokens: 0 }
  const lines = [json, { date: '2025-03-02', ...json, prompt_tokens: 4 }]
  await writeInput(workspace, `${folder}/c.ndjson`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await buildIn(workspace)
  expect(rowsOf(await publishedCsv(workspace))).toEqual([
    '2025-03-01 acme/csv 2',
    '2025-03-02 acme/json 4',
    '2025-03-05 acme/json 3',
    '2025-03-05 acme/csv 1',
  ])
})
