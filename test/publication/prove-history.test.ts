/** `verify` and `derive` prove any release from the history, dropped ones too, and `verify` the history itself. */
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isThere } from '../../pipeline/base/files.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { withTemporaryDatabase } from '../../pipeline/base/scratch.ts'
import { DATASET_PATH, releasePath } from '../../pipeline/contract/manifest.ts'
import { HISTORY_PATHS, INDEX_PATH } from '../../pipeline/contract/published-paths.ts'
import { DATA_FILES } from '../../pipeline/contract/release-files.ts'
import { type DeriveSummary, derive, verifyDerived } from '../../pipeline/publication/derive.ts'
import { deriveRelease } from '../../pipeline/publication/derive-release.ts'
import { verifyHistoryTable } from '../../pipeline/publication/verify-history-table.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { readIndex } from '../support/history.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  datasetFolder,
  newWorkspace,
  removeWorkspace,
  runCli,
  snapshotTree,
  type Workspace,
} from '../support/pipeline.ts'
import { deliver, type Use, verifyFolder } from '../support/releases.ts'

const [R1, R2, R3] = ['20250310T100000Z', '20250310T110000Z', '20250310T120000Z'] as const
/** Names that the two writers of CSV may quote otherwise. */
const MODELS = ['a', '#b,"quoted"', 'ü', "it's", 'x|y', '!1|']
const DATES = ['2025-02-28', '2025-03-02', '2025-03-09']

/** Three releases, of which the first is dropped. The second changes one date; the third changes it back. */
let original: Workspace

beforeAll(async () => {
  original = await createWorkspace()
  for (const [hour, tokens] of [5, 9, 5].entries()) {
    const uses = DATES.flatMap((date) =>
      MODELS.map((model, index): Use => [date, date === '2025-03-02' && index === 3 ? tokens : 8 - index, model]),
    )
    await deliver(original, uses, hour === 2 ? { retention: { keep_releases: 2 } } : {})
    await buildIn(original, `2025-03-10T1${hour}:00:00Z`)
  }
})

afterAll(() => removeWorkspace(original))

const OF_ONE = `"table" = 'daily' AND date = '2025-03-02' AND model_permaslug = 'a'`
const OF_SECOND = `"table" = 'daily' AND valid_from = '${R2}'`
const UNCHANGED = `"table" = 'daily' AND date = '2025-03-09' AND position = 1`

const IN_TWO = `
  UPDATE forged SET valid_to = '${R2}' WHERE ${UNCHANGED};
  INSERT INTO forged SELECT * REPLACE (valid_to AS valid_from, NULL AS valid_to) FROM forged WHERE ${UNCHANGED}`

interface Forgery {
  /** Changes the table `forged`. */
  edit?: string
  order?: string
  /** Changes the footer. */
  keys?: (keys: Record<string, string>) => Record<string, string>
}

const PUBLISHED_ORDER = `list_position(['daily', 'weekly', 'monthly'], "table"), date, valid_from, position`

/** Writes a `history.parquet` anew. */
async function forge(
  path: string,
  { edit = 'SELECT 1', order = PUBLISHED_ORDER, keys = (same) => same }: Forgery,
): Promise<void> {
  const { signal } = new AbortController()
  await withTemporaryDatabase('verify', { signal, folders: [dirname(path)] }, async (database) => {
    await database.execute('CREATE TABLE forged AS FROM read_parquet($path)', { path })
    for (const statement of edit.split(';')) await database.execute(statement)
    const rows = await database.rows<{ key: string; value: string }>('data-files/parquet_keys', { path })
    const metadata = keys(Object.fromEntries(rows.map(({ key, value }) => [key, value])))
    const forged = `COPY (FROM forged ORDER BY ${order}) TO $path (FORMAT parquet, KV_METADATA $metadata)`
    await database.execute(forged, { path, metadata })
  })
}

/** What `verify` says of the history of a folder alone. */
async function verifyTable({ publicDir }: Workspace, workspace: Workspace): Promise<void> {
  const { signal } = new AbortController()
  const index = await readIndex(workspace)
  const current = await readManifest(join(datasetFolder(workspace), 'releases', R3))
  await withTemporaryDatabase('verify', { signal, folders: [publicDir] }, (database) =>
    verifyHistoryTable(database, publicDir, index, current),
  )
}

/** A folder that has nothing but the history. */
async function historyAlone(): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const path of Object.values(HISTORY_PATHS)) {
    await cp(join(original.publicDir, path), join(workspace.publicDir, path))
  }
  return workspace
}

describe('of the history, verify', () => {
  it.each<[string, Forgery, RegExp]>([
    ['other tokens of a release', { edit: `UPDATE forged SET total_tokens = 7 WHERE ${OF_ONE}` },
     /has sha256:\w+ as the daily rows of release 20250310T100000Z, but the index says sha256:/],
    ['other tokens of the second',
     { edit: `UPDATE forged SET total_tokens = 7 WHERE ${OF_SECOND} AND position = 1` }, /as the daily rows of release 20250310T110000Z/],
    ['other days of a week', { edit: `UPDATE forged SET days = days + 1 WHERE "table" = 'weekly' AND date = '2025-03-03'` },
     /as the weekly rows of release 20250310T100000Z/],
    ['days of a date', { edit: `UPDATE forged SET days = 1 WHERE ${OF_ONE}` }, /as the daily rows of release 20250310T100000Z/],
    ['a row less', { edit: `DELETE FROM forged WHERE valid_from = '${R2}' AND "table" = 'monthly' AND position = 4` },
     /no row at position 4 of 2025-03-01 in the monthly table of release 20250310T110000Z/],
    ['a row more', { edit: `INSERT INTO forged SELECT * REPLACE (7 AS position, 'z' AS model_permaslug) FROM forged WHERE ${OF_ONE}` },
     /as the daily rows of release 20250310T100000Z/],
    ['two rows at one position',
     { edit: `UPDATE forged SET position = 5 WHERE ${OF_SECOND} AND position = 4` }, /that has the position of another row of 20250310T110000Z/],
    ['a row twice', { edit: `INSERT INTO forged FROM forged WHERE ${OF_ONE}` }, /has a row of a on 2025-03-02 .* that is not in its place/],
    ['another order', { order: 'date, valid_from, position, "table"' }, /that is not in its place/],
    ['a row that is in no release',
     { edit: `INSERT INTO forged SELECT * REPLACE (valid_from AS valid_to) FROM forged WHERE ${OF_ONE}` }, /that ends before it begins/],
    ['a row in two where one is enough', { edit: IN_TWO },
     /has a row of a on 2025-03-09 from 20250310T110000Z .* that is the same before and after 20250310T110000Z/],
    ['a row of an unknown release', { edit: `UPDATE forged SET valid_to = '20250310T103000Z' WHERE ${OF_ONE}` },
     /that names 20250310T103000Z, which is not a release that stands/],
    ['another table', { edit: `UPDATE forged SET "table" = 'yearly' WHERE ${OF_ONE}` }, /table: must be one of daily,/],
    ['no tokens', { edit: `UPDATE forged SET total_tokens = NULL WHERE ${OF_ONE}` }, /total_tokens: is missing/],
    ['a column more', { edit: 'ALTER TABLE forged ADD COLUMN more INTEGER' }, /has the columns .*"more"/],
    ['another line to cite', { keys: (keys) => ({ ...keys, attribution: 'mine' }) },
     /says attribution = mine in its footer, but by the releases it is Source: /],
    ['another chain', { keys: (keys) => ({ ...keys, entry: '0'.repeat(64) }) }, /says entry = 0{64} in its footer/],
    ['a release less', { keys: (keys) => ({ ...keys, releases: `${R2} ${R3}` }) }, /does not have release 20250310T100000Z/],
    ['a release more', { keys: (keys) => ({ ...keys, releases: `${R1} ${R2} 20250310T113000Z ${R3}` }) },
     /has release 20250310T113000Z, which is not one that stands/],
  ])('names a history.parquet with %s', async (_what, forgery, message) => {
    const workspace = await historyAlone()
    const path = join(workspace.publicDir, HISTORY_PATHS.parquet)
    await forge(path, forgery)
    const verifying = verifyTable(workspace, original)
    await expect(verifying).rejects.toThrow(message)
    await expect(verifying).rejects.toThrow(path)
  }) // biome-ignore format: one line a forgery
})

describe('of history.csv.gz, verify', () => {
  const edited = (edit: (text: string) => string) => (bytes: Buffer) => gzipSync(edit(gunzipSync(bytes).toString()))
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['other tokens', edited((text) => text.replace(',a,8,', ',a,9,'))],
    ['another line break', edited((text) => text.replace('\n', '\r\n'))],
    ['quotes that are not needed', edited((text) => text.replace(',a,', ',"a",'))],
    ['a row more', edited((text) => `${text}daily,2025-03-09,z,1,,7,${R1},\n`)],
  ])('names a file with %s', async (_what, edit) => {
    const workspace = await historyAlone()
    const path = join(workspace.publicDir, HISTORY_PATHS.csv)
    const bytes = await readFile(path)
    expect(edit(bytes)).not.toEqual(bytes)
    await writeFile(path, edit(bytes))
    await expect(verifyTable(workspace, original)).rejects.toThrow(`${path} does not hold the rows of history.parquet`)
  })
})

describe('of a dropped release', () => {
  it('verify reads the rows from the history', async () => {
    const releases = 3 * 30 - DATA_FILES.length
    const [days, months, history] = [3 + 5, 2 * 2 + 4 * 2, 2]
    const files = releases + days + months + history
    expect(await verifyFolder(original.publicDir)).toMatchObject({ releases: 3, dropped: 1, files })
  })

  it.each<[string, (publicDir: string) => Promise<void>, string]>([
    ['a data file that is there', (dir) => cp(inRelease(dir, R3, 'rankings-daily.csv'), inRelease(dir, R1, 'rankings-daily.csv')),
     `${R1}/rankings-daily.csv`],
    ['another file that changed', (dir) => writeFile(inRelease(dir, R1, 'quality.json'), '{}'),
     `${R1}/quality.json does not have the checksum`],
    ['checksums that list another data file', (dir) => editText(inRelease(dir, R1, 'SHA256SUMS'),
     /[0-9a-f]{64}(?= {2}rankings-daily.csv\n)/, '0'.repeat(64)), `${R1}/rankings-daily.csv is not the file that manifest.json lists`],
    ['a history that is missing', (dir) => rm(join(dir, HISTORY_PATHS.parquet)), 'history.parquet is missing'],
    ['a history with other rows', (dir) => forge(join(dir, HISTORY_PATHS.parquet),
     { edit: `UPDATE forged SET total_tokens = 7 WHERE ${OF_ONE}` }), `history.parquet, as of ${R1}, holds 18 rows with sha256:`],
    ['an index that does not tell', (dir) => editText(join(dir, INDEX_PATH), /,\s+"dropped": true/, ''),
     `${R1}/rankings-daily.csv is listed in SHA256SUMS but missing`],
    ['an index that tells it of the current release', (dir) => editText(join(dir, INDEX_PATH), '"status": "current"',
     '"status": "current", "dropped": true'), 'index.json does not say what follows from the releases'],
  ])('verify names %s', async (_what, tamper, message) => {
    const { publicDir } = await copyWorkspace(original)
    await tamper(publicDir)
    await expect(verifyFolder(publicDir)).rejects.toThrow(message)
  }) // biome-ignore format: one line a change

  it('the next build removes a data file that is there again, and restores the CSV of the history', async () => {
    const workspace = await copyWorkspace(original)
    await writeFile(inRelease(workspace.publicDir, R1, 'rankings-daily.csv'), 'stray')
    await rm(join(workspace.publicDir, HISTORY_PATHS.csv))
    await buildIn(workspace, '2025-03-10T12:00:00Z')
    expect(await snapshotTree(workspace.publicDir)).toEqual(await snapshotTree(original.publicDir))
  })
})

function inRelease(publicDir: string, release: string, name: string): string {
  return join(publicDir, releasePath(release), name)
}

async function editText(path: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  expect(text.replace(from, to)).not.toBe(text)
  await writeFile(path, text.replace(from, to))
}

describe('derive --release', () => {
  it.each([R1, R2, R3])('makes all data files of %s with the bytes that were published', async (name) => {
    const { root } = await newWorkspace()
    const out = join(root, 'derived')
    const summary = await deriveTo(out, original.publicDir, name)
    expect(summary.files).toEqual(DATA_FILES.map((path) => ({ path, comparison: 'equal' })))
    const { content_hash, tables } = await readManifest(join(datasetFolder(original), 'releases', name))
    expect(summary.tables).toEqual([
      { table: 'daily', rows: 18, content_hash },
      { table: 'weekly', rows: 12, content_hash: tables?.weekly.content_hash },
      { table: 'monthly', rows: 12, content_hash: tables?.monthly.content_hash },
    ])
    expect(Object.keys(await snapshotTree(out))).toEqual(DATA_FILES.toSorted())
    expect(() => verifyDerived(summary)).not.toThrow()
  })

  it('takes the folder of the dataset or history.parquet, and needs no more than the manifest beside it', async () => {
    const { root } = await newWorkspace()
    await cp(join(original.publicDir, HISTORY_PATHS.parquet), join(root, HISTORY_PATHS.parquet))
    const manifest = `${releasePath(R1)}/manifest.json`
    await expect(deriveTo(join(root, 'out'), join(root, DATASET_PATH), R1)).rejects.toThrow(
      'put the manifest.json of the release',
    )
    await cp(join(original.publicDir, manifest), join(root, manifest))
    for (const [number, place] of [DATASET_PATH, HISTORY_PATHS.parquet].entries()) {
      const { files } = await deriveTo(join(root, `out-${number}`), join(root, place), R1)
      expect(new Set(files.map(({ comparison }) => comparison))).toEqual(new Set(['equal']))
    }
  })

  it('says that rows are equal where another version wrote other bytes, and else ends with exit code 1', async () => {
    const workspace = await copyWorkspace(original)
    const path = inRelease(workspace.publicDir, R1, 'manifest.json')
    const manifest = await readManifest(dirname(path))
    const other = manifest.files.map((file) =>
      /parquet|json\.gz/.test(file.path) ? { ...file, sha256: '0'.repeat(64) } : file,
    )
    await writeFile(path, toJson({ ...manifest, files: other }))
    const run = (out: string) =>
      runCli(['derive', workspace.publicDir, '--release', R1, '--out', join(workspace.root, out), '--json'], {})
    const { code, stderr } = await run('same-version')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('3 derived files differ') })
    await writeFile(path, toJson({ ...manifest, files: other, generator: { ...manifest.generator, duckdb: 'v1.0.0' } }))
    const { code: success, stdout } = await run('other-version')
    expect(success).toBe(0)
    expect(JSON.parse(stdout).files).toContainEqual({ path: 'rankings-daily.parquet', comparison: 'equal_rows' })
    expect(JSON.parse(stdout).files).toContainEqual({ path: 'rankings-daily.json.gz', comparison: 'equal_rows' })
    expect(JSON.parse(stdout).files).toContainEqual({ path: 'rankings-daily.csv', comparison: 'equal' })
  })

  it('refuses rows that are not those of the manifest', async () => {
    const workspace = await copyWorkspace(original)
    await forge(join(workspace.publicDir, HISTORY_PATHS.parquet), {
      edit: `UPDATE forged SET days = days + 1 WHERE "table" = 'weekly' AND date = '2025-03-03'`,
    })
    await expect(deriveTo(join(workspace.root, 'out'), workspace.publicDir, R1)).rejects.toThrow(
      `history.parquet does not have the weekly rows of release ${R1} that its manifest promises`,
    )
    const manifest = await readFile(inRelease(workspace.publicDir, R3, 'manifest.json'))
    await writeFile(inRelease(workspace.publicDir, R1, 'manifest.json'), manifest)
    await expect(deriveTo(join(workspace.root, 'out'), workspace.publicDir, R1)).rejects.toThrow(
      `manifest.json is that of release ${R3}, not of ${R1}`,
    )
  })

  it('tells what it needs of a release that is not in the history, a folder without one, and a dropped release', async () => {
    const { root } = await newWorkspace()
    const out = join(root, 'out')
    await expect(deriveTo(out, original.publicDir, '20250310T113000Z')).rejects.toThrow(
      `has no release 20250310T113000Z, but 3 from ${R1} to ${R3}`,
    )
    await expect(deriveTo(out, root, R1)).rejects.toThrow(/there is no .*history\.parquet or .*history\.parquet; give/)
    const dropped = join(original.publicDir, releasePath(R1))
    const { signal } = new AbortController()
    await expect(derive(dropped, out, { signal, report: () => {} })).rejects.toThrow(
      `derive ${datasetFolder(original)} --release ${R1} makes it from the history`,
    )
    expect(await isThere(out)).toBe(false)
  })
})

function deriveTo(out: string, place: string, release: string): Promise<DeriveSummary> {
  const { signal } = new AbortController()
  return deriveRelease(place, { release, out }, { signal, report: () => {} })
}
