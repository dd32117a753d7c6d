/** `tokenboard derive`: an outsider makes every format of a release again from its Parquet files alone. */
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataFile, dataFiles } from '../../pipeline/contract/release-files.ts'
import { PERIOD_TABLES, TABLES } from '../../pipeline/contract/tables.ts'
import { type DeriveSummary, derive, verifyDerived } from '../../pipeline/publication/derive.ts'
import {
  createWorkspace,
  datasetFolder,
  newWorkspace,
  releaseFolder,
  removeWorkspace,
  runCli,
  snapshotTree,
  type Workspace,
} from '../support/pipeline.ts'
import { release, type Use } from '../support/releases.ts'

const FIRST = '20250310T100000Z'
const DATES = ['2025-02-28', '2025-03-02', '2025-03-09']
const TEXTS = TABLES.flatMap((table) => dataFiles(table).filter(({ format }) => format !== 'parquet'))
const FORMATS: readonly string[] = TEXTS.map(({ path }) => path)

let published: Workspace

/** Two releases; the second has other numbers on one of three days, so that two days keep the revision of the first. */
beforeAll(async () => {
  published = await createWorkspace()
  for (const [hour, tokens] of [5, 7].entries()) {
    const uses = DATES.flatMap((date) =>
      ['a', 'b,"quoted"', 'ü'].map((model): Use => [date, date === '2025-03-02' ? tokens : 1, model]),
    )
    await release(published, uses, `2025-03-10T1${hour}:00:00Z`)
  }
})

afterAll(() => removeWorkspace(published))

function deriveTo(out: string, place: string): Promise<DeriveSummary> {
  const { signal } = new AbortController()
  return derive(place, out, { signal, report: () => {} })
}

describe('derive', () => {
  it('makes equal bytes of the formats of a release and of its days and months', async () => {
    const { root } = await newWorkspace()
    const out = join(root, 'derived')
    const summary = await deriveTo(out, join(datasetFolder(published), 'latest'))
    expect(summary).toMatchObject({ release: '20250310T110000Z', rows: 9, cannot_make: [] })
    expect(summary.tables.map(({ table, rows }) => [table, rows])).toEqual([
      ['daily', 9],
      ['weekly', 6],
      ['monthly', 6],
    ])
    const equal = [
      ...FORMATS,
      ...['monthly/2025-02', 'monthly/2025-03'].flatMap((month) => [`${month}.csv`, `${month}.parquet`]),
      'daily/2025-03-02.json',
    ]
    expect(Object.fromEntries(summary.files.map(({ path, comparison }) => [path, comparison]))).toEqual({
      ...Object.fromEntries(equal.map((path) => [path, 'equal'])),
      'daily/2025-02-28.json': 'other_as_of',
      'daily/2025-03-09.json': 'other_as_of',
    })
    for (const { path, comparison } of summary.files.filter((file) => !FORMATS.includes(file.path))) {
      const [bytes, current] = await Promise.all([
        readFile(join(out, path)),
        readFile(join(datasetFolder(published), path)),
      ])
      expect(bytes.equals(current), path).toBe(comparison === 'equal')
    }
    expect(() => verifyDerived(summary)).not.toThrow()
    // The days of an older release are compared with their superseded revisions.
    const older = await deriveTo(join(root, 'older'), join(datasetFolder(published), 'releases', FIRST))
    expect(older.files.filter(({ comparison }) => comparison !== 'equal')).toEqual([])
  })

  it('makes the same files from the Parquet file of a table alone, but no weeks and months from days', async () => {
    const { root } = await newWorkspace()
    const alone: Record<string, unknown>[] = []
    for (const table of TABLES) {
      const copy = join(root, `copy-of-${table}.parquet`)
      await copyFile(join(await releaseFolder(published), dataFile(table, 'parquet')), copy)
      const { files, tables, cannot_make } = await deriveTo(join(root, table), copy)
      expect(new Set(files.map(({ comparison }) => comparison))).toEqual(new Set(['not_at_hand']))
      expect(tables).toMatchObject([{ table }])
      const isDaily = table === 'daily'
      const reason = expect.stringContaining('they come from the sums of all models')
      expect(cannot_make).toEqual(isDaily ? PERIOD_TABLES.map((each) => ({ table: each, reason })) : [])
      alone.push(await snapshotTree(join(root, table)))
    }
    await deriveTo(join(root, 'beside'), await releaseFolder(published))
    expect(Object.assign({}, ...alone)).toEqual(await snapshotTree(join(root, 'beside')))
  })

  it('refuses a folder whose Parquet files are not those of one release', async () => {
    const { root } = await newWorkspace()
    const other = join(datasetFolder(published), 'releases', FIRST)
    await copyFile(join(await releaseFolder(published), 'rankings-daily.parquet'), join(root, 'rankings-daily.parquet'))
    for (const wrong of [
      join(other, 'rankings-weekly.parquet'),
      join(await releaseFolder(published), 'rankings-monthly.parquet'),
    ]) {
      await copyFile(wrong, join(root, 'rankings-weekly.parquet'))
      await expect(deriveTo(join(root, 'derived'), root)).rejects.toThrow('not one of release 20250310T110000Z')
    }
  })

  it('ends with exit code 1 and names a published file that differs', async () => {
    const { root } = await newWorkspace()
    const place = join(root, 'releases', 'r')
    await cp(await releaseFolder(published), place, { recursive: true })
    await writeFile(join(place, 'rankings-daily.csv'), 'date,model_permaslug,total_tokens\n')
    const { code, stdout, stderr } = await runCli(['derive', place, '--out', join(root, 'derived'), '--json'], {})
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('1 derived files differ from those that are published: rankings-daily.csv;'),
    })
    expect(JSON.parse(stdout).files).toContainEqual({ path: 'rankings-daily.csv', comparison: 'differs' })
  })

  it('refuses a folder that is not empty, and what is no Parquet file of a release, and leaves no folder behind', async () => {
    const { root } = await newWorkspace()
    const full = join(root, 'full')
    await mkdir(full)
    await writeFile(join(full, 'mine.txt'), 'mine')
    await expect(deriveTo(full, await releaseFolder(published))).rejects.toThrow(/holds something already/)
    expect(await readdir(full)).toEqual(['mine.txt'])
    await writeFile(join(root, 'text.parquet'), 'no Parquet')
    await copyFile(join(datasetFolder(published), 'monthly/2025-03.parquet'), join(root, 'month.parquet'))
    for (const [name, message] of [
      ['absent.parquet', /there is no file .*absent\.parquet/],
      ['text.parquet', /text\.parquet cannot be read as Parquet/],
      ['month.parquet', /the footer of .*month\.parquet: .*as_of/],
    ] as const) {
      await expect(deriveTo(join(root, 'derived'), join(root, name))).rejects.toThrow(message)
    }
    expect(await readdir(root)).not.toContain('derived')
  })
})
