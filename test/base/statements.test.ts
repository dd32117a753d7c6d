import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readComment, readStatement, readStatements } from '../../pipeline/base/statements.ts'
import { temporaryFolder } from '../support/folder.ts'

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder()
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

describe('named statements', () => {
  it('are read with their comments from all .sql files', async () => {
    const folder = await folderWith({
      'raw/files/parquet.sql':
        '-- About the file.\n\n-- name: columns\n-- Two\n-- lines.\nSELECT 1 -- one\n\n-- name: b\nFROM a',
      'rollup/state.sql': '-- name: create\r\n\r\n-- A table.\r\nCREATE TABLE a;\r\n',
      'site/snippets/tokens.sql': '-- No name.\nSELECT 2',
    })
    const { files, byName } = readStatements(folder)
    expect(files).toEqual(['pipeline/raw/files/parquet.sql', 'pipeline/rollup/state.sql'])
    expect(Object.fromEntries(byName)).toEqual({
      'parquet/columns': { comment: ['Two', 'lines.'], sql: 'SELECT 1 -- one' },
      'parquet/b': { comment: [], sql: 'FROM a' },
      'state/create': { comment: [], sql: '-- A table.\nCREATE TABLE a;' },
    })
  })

  it.each([
    ['one file', { 'raw/a.sql': '-- name: b\nSELECT 1\n-- name: b\nSELECT 2' }],
    ['two rooms', { 'base/a.sql': '-- name: b\nSELECT 1', 'raw/a.sql': '-- name: b\nSELECT 2' }],
  ])('are refused if %s has a name twice', async (_, files) => {
    const folder = await folderWith(files)
    expect(() => readStatements(folder)).toThrow('pipeline/raw/a.sql: there are two SQL statements a/b')
  })

  it('are found by stage and name, and unknown names are errors', () => {
    expect(readStatement('state/version')).toBe('SELECT version FROM state_version')
    expect(readComment('checks/doubled_model')).toEqual(['A model has one row a date, week or month.'])
    for (const name of ['state/nope', 'nope/version', 'version', 'state/__proto__']) {
      expect(() => readStatement(name)).toThrow(`there is no SQL statement ${name}`)
    }
  })
})
