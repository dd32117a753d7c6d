import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AS_OF, buildAndListen, newWorkspace, type Workspace, writeInput } from '../support/pipeline.ts'

const RECORDS = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n2025-03-02T12:00:00Z,a,3,0\n'

async function noticesOf(workspace: Workspace, sources: object[], asOf = AS_OF): Promise<string[]> {
  const named = sources.map((source) => ({ schema: 'canonical', visibility: 'public', ...source }))
  await writeInput(workspace, 'sources.json', { sources: named })
  const { notices } = await buildAndListen(workspace, asOf)
  return notices.filter((message) => !message.includes('no request_id'))
}

describe('files of two sources', () => {
  it('are reported by each build, unless the sources have different conditions', async () => {
    const workspace = await newWorkspace()
    await writeInput(workspace, 'a.csv', RECORDS)
    await symlink('a.csv', join(workspace.input, 'b.csv'))
    const files = ['a.csv']
    const twice = [
      { name: 'one', files },
      { name: 'two', files: ['b.csv'] },
    ]
    const notice = 'sources "one" and "two" have the same records in a.csv and b.csv: they count twice'
    expect(await noticesOf(workspace, twice)).toEqual([notice])
    expect(await noticesOf(workspace, twice)).toEqual([notice])
    const same = [{ ...twice[0] }, { name: 'two', files }]
    expect(await noticesOf(workspace, same)).toEqual(['sources "one" and "two" both read a.csv: they count twice'])
    const parted = [{ ...twice[0], where: { model_permaslug: { equal: 'a' } } }, same[1] ?? {}]
    expect(await noticesOf(workspace, parted)).toEqual([])
  })

  it('have other records if the columns in their paths differ', async () => {
    const workspace = await newWorkspace()
    for (const name of ['a/m.csv', 'b/m.csv', 'b/n.csv']) await writeInput(workspace, name, RECORDS)
    const columns = { model_permaslug: 'model' }
    const sources = ['a', 'b'].map((name) => ({ name, files: [`${name}/{model}.csv`], columns }))
    expect(await noticesOf(workspace, sources)).toEqual([
      'sources "a" and "b" have the same records in a/m.csv and b/m.csv: they count twice',
    ])
  })
})

describe('files that a pattern no longer matches, because their names begin with an underscore', () => {
  it('are not missing: their records leave with a notice', async () => {
    const workspace = await newWorkspace()
    await writeInput(workspace, 'a.csv', RECORDS)
    await writeInput(workspace, '_b.csv', RECORDS.replace(',3,', ',4,'))
    await noticesOf(workspace, [{ name: 'one', files: ['*.csv', '_b.csv'] }])
    expect(await noticesOf(workspace, [{ name: 'one', files: ['*.csv'] }], '2025-03-11T12:00:00Z')).toEqual([
      'source "one": _b.csv is no longer named by the source: the records are not counted',
    ])
  })
})

it('files that do not fit the named parts of a pattern are reported', async () => {
  const workspace = await newWorkspace()
  for (const name of ['2025-03-02', '2025-03-02.1', 'sum']) await writeInput(workspace, `${name}.csv`, RECORDS)
  expect(await noticesOf(workspace, [{ name: 'one', files: ['{date}.csv'], columns: { timestamp: 'date' } }])).toEqual([
    'source "one": 2 files, such as 2025-03-02.1.csv, do not fit {date}.csv and are not read',
  ])
})
