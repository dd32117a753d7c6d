/** `tokenboard withdraw --reason privacy --dates`: nothing published tells of the dates, and a stop at any step is mended. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { INDEX_PATH } from '../../pipeline/contract/published-paths.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { verifyUrl } from '../../pipeline/publication/verify-remote.ts'
import { crashAfter, filesAfter, LOST, recordSteps, someSteps } from '../support/crash.ts'
import { namesIn, readCoverage, readIndex, readRestatements, text } from '../support/history.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  newWorkspace,
  publishedCsv,
  readLatest,
  removeWorkspace,
  rowsOf,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  withdrawDatesIn,
  withdrawIn,
} from '../support/pipeline.ts'
import { deliver, release, type Use, verifyFolder } from '../support/releases.ts'
import { newRuledGateway, type RuledGateway, SAFE } from '../support/ruled-gateway.ts'
import { serveFolder } from '../support/static-host.ts'

const [FIRST, SECOND, THIRD] = ['20250305T100000Z', '20250309T100000Z', '20250310T100000Z']
/** What takes the place of the third one. */
const NEXT = '20250310T100001Z'
const AT = '2025-03-10T12:00:00Z'
const DATES = '2025-03-02..2025-03-03'
/** Tokens of the dates, of their first and second count, and what they changed by. */
const SECRETS = /73019|73\.019|73,019|81547|81,547|81573|81,573|\b26\b/

let original: Workspace

/** Three releases: the first has none of the dates; the third restates one of them, and a date that stays. */
beforeAll(async () => {
  original = await createWorkspace()
  await release(original, [['2025-02-27', 11]], '2025-03-05T10:00:00Z')
  await release(original, [['2025-02-27', 11], ['2025-03-01', 17], ['2025-03-02', 73019], ['2025-03-03', 81547, 'undercover']], '2025-03-09T10:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 12], ['2025-03-01', 17], ['2025-03-02', 73019], ['2025-03-03', 81573, 'undercover'], ['2025-03-04', 19]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
})

afterAll(() => removeWorkspace(original))

const REST = ['2025-02-27 a 12', '2025-03-01 a 17', '2025-03-04 a 19']

/** The files below a folder that tell a number of the dates, or the model that only they had. */
async function tellers(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    const all = path.endsWith('.gz') ? gunzipSync(bytes) : bytes
    // Hashes, and places in a drawing, may have any digits.
    const plain = all.toString('latin1').replaceAll(/[0-9a-f]{64}| (?:d|x|y|width|height|viewBox)="[^"]*"/g, '')
    if (/undercover/.test(plain) || (/\.(csv|json|html|svg|atom|md)(\.gz)?$/.test(path) && SECRETS.test(plain)))
      found.push(path)
  }
  return found
}

const effects = { now: () => new Date(AT), report: () => {}, signal: new AbortController().signal, files: realFiles }

it('leaves no number of the dates, a current release of all other rows, and everything verifiable, also in copies', async () => {
  const workspace = await copyWorkspace(original)
  const folder = join(workspace.root, 'copy')
  const exported = () => exportPublished(readPipelineConfig(settings(workspace, AT)), effects, { folder })
  await exported()
  expect((await tellers(workspace.publicDir)).length).toBeGreaterThan(20)
  const day = await text(workspace, 'daily/2025-03-01.json')

  const dry = ['withdraw', '--reason', 'privacy', '--dates', DATES, '--dry-run', '--json']
  const unchanged = await snapshotTree(workspace.root)
  const { code, stdout, stderr } = await runCli(dry, settings(workspace, AT))
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'would_withdraw', releases: [SECOND, THIRD], current: null })
  expect(stderr).toContain('dry run: 2025-03-02 to 2025-03-03 would be taken out; nothing was changed')
  expect(stderr).toContain('2 releases had hashes without a salt')
  expect(await snapshotTree(workspace.root)).toEqual(unchanged)

  let present: string[] = []
  const files = filesAfter(async (_from, to) => {
    if (String(to).endsWith(`v1/releases/${SECOND}/TOMBSTONE.json`)) present = await namesIn(workspace, 'releases')
  })
  expect(await withdrawDatesIn(workspace, DATES, AT, { files })).toEqual({
    outcome: 'withdrawn',
    start_date: '2025-03-02',
    end_date: '2025-03-03',
    withdrawn_at: AT,
    republish: false,
    releases: [SECOND, THIRD],
    unsalted: [SECOND, THIRD],
    current: NEXT,
    is_replaced: true,
  })
  // The new release was in place before the first tombstone.
  expect(present).toContain(NEXT)
  expect(await tellers(workspace.publicDir)).toEqual([])
  expect(await readdir(join(workspace.dataDir, 'ledger'))).toEqual(['generation-2'])
  expect(await tellers(join(workspace.dataDir, 'ledger'))).toEqual([])
  expect(rowsOf(await publishedCsv(workspace))).toEqual(REST)
  // Each month has one of the dates, or the week that has them.
  expect((await text(workspace, `releases/${NEXT}/manifest.json`)).includes('rankings-weekly')).toBe(false)
  expect(await verifyFolder(workspace.publicDir)).toMatchObject({ latest: NEXT })

  // Neither index nor tombstones have hashes of withdrawn releases, and nothing tells what they were made from.
  const { releases } = await readIndex(workspace)
  expect(releases.map(({ release, status }) => `${release} ${status}`)).toEqual([
    `${FIRST} superseded`,
    `${SECOND} withdrawn`,
    `${THIRD} withdrawn`,
    `${NEXT} current`,
  ])
  const before = await readIndex(original)
  expect(releases.slice(0, 3).map(({ hash }) => hash)).toEqual(before.releases.map(({ hash }) => hash))
  for (const entry of releases.slice(1, 3)) {
    expect(entry).toMatchObject({ withdrawal: { withdrawn_at: AT, reason: 'privacy' } })
    expect(entry).not.toHaveProperty('content_hash')
    expect(entry).not.toHaveProperty('manifest_sha256')
    const tombstone = await text(workspace, `releases/${entry.release}/TOMBSTONE.json`)
    expect(tombstone).toContain('"reason": "privacy"')
    expect(tombstone).not.toMatch(/sha256/)
  }
  expect(await readdir(join(workspace.dataDir, 'provenance'))).toEqual([`${FIRST}.json`])

  // Days and months stay as they are, or are called removed.
  expect(await text(workspace, 'daily/2025-03-01.json')).toBe(day)
  const { days, months } = await readCoverage(workspace)
  expect(days.filter(({ reason }) => reason === 'removed')).toMatchObject([
    { date: '2025-03-02', rows: 0, total_tokens: '0', content_hash: null, revision: 1 },
    { date: '2025-03-03', rows: 0, total_tokens: '0', content_hash: null, revision: 2 },
  ])
  expect(months.at(-1)).toMatchObject({ month: '2025-03', revision: 3, total_tokens: '36', release: NEXT })

  // Copies and mirrors follow.
  await exported()
  expect(await tellers(folder)).toEqual([])
  const { url } = await serveFolder(folder)
  expect(await verifyUrl(url, { ...effects, onVerified: () => {} })).toMatchObject({ latest: NEXT })
  const { stderr: refusal } = await runCli(['reproduce', NEXT], settings(workspace, AT))
  expect(refusal).toContain('was made of published rows when dates were taken out')

  // Nothing more happens when it is run again.
  const ofState = async () =>
    Object.entries(await snapshotTree(workspace.root)).filter(([path]) => !path.startsWith('data/state'))
  const left = await ofState()
  const again = await withdrawDatesIn(workspace, DATES, '2025-03-11T12:00:00Z')
  expect(again).toMatchObject({ outcome: 'unchanged', releases: [], current: NEXT })
  expect(await ofState()).toEqual(left)
})

it('keeps the weeks and months that have none of the dates, and leaves out the others until the next build', async () => {
  const workspace = await newWorkspace()
  const uses: Use[] = [['2025-02-10', 11], ['2025-02-27', 13], ['2025-03-02', 73019], ['2025-03-04', 19]] // biome-ignore format: rows
  await release(workspace, uses, '2025-03-09T10:00:00Z')
  const { current } = await withdrawDatesIn(workspace, '2025-03-02', AT)
  const rowsIn = async (name: string, table: string) =>
    rowsOf(await text(workspace, `releases/${name}/rankings-${table}.csv`))
  expect(await rowsIn(current ?? '', 'weekly')).toEqual(['2025-02-10 a 11 1', '2025-03-03 a 19 1'])
  expect(await rowsIn(current ?? '', 'monthly')).toEqual(['2025-02-01 a 24 2'])
  await verifyFolder(workspace.publicDir)
  const { release: next } = await buildIn(workspace, '2025-03-11T10:00:00Z')
  expect(await rowsIn(next, 'weekly')).toEqual(['2025-02-10 a 11 1', '2025-02-24 a 13 1', '2025-03-03 a 19 1'])
  expect(await rowsIn(next, 'monthly')).toEqual(['2025-02-01 a 24 2', '2025-03-01 a 19 1'])
})

it('keeps a current release that does not tell of the dates', async () => {
  const workspace = await newWorkspace()
  await release(workspace, [['2025-03-01', 17], ['2025-03-02', 73019]], '2025-03-07T10:00:00Z') // biome-ignore format: rows
  // Its changes list what it removes.
  await release(workspace, [['2025-03-01', 17]], '2025-03-08T10:00:00Z')
  await release(workspace, [['2025-03-01', 17], ['2025-03-03', 5]], '2025-03-09T10:00:00Z') // biome-ignore format: rows
  expect(await withdrawDatesIn(workspace, '2025-03-02', AT)).toMatchObject({
    releases: ['20250307T100000Z', '20250308T100000Z'],
    current: '20250309T100000Z',
    is_replaced: false,
  })
  expect(await tellers(workspace.publicDir)).toEqual([])
  await verifyFolder(workspace.publicDir)
})

it('removes the hashes and restatements of releases that were withdrawn before for another reason', async () => {
  const workspace = await copyWorkspace(original)
  await withdrawIn(workspace, THIRD, AT)
  await release(workspace, [['2025-02-27', 12], ['2025-03-01', 17], ['2025-03-02', 73019], ['2025-03-04', 19]], '2025-03-10T13:00:00Z') // biome-ignore format: rows
  const { releases } = await withdrawDatesIn(workspace, DATES, '2025-03-10T14:00:00Z')
  expect(releases).toEqual([SECOND, THIRD, '20250310T130000Z'])
  expect(await tellers(workspace.publicDir)).toEqual([])
  expect(await text(workspace, `releases/${THIRD}/TOMBSTONE.json`)).not.toContain('sha256')
  expect(rowsOf(await publishedCsv(workspace))).toEqual(REST)
  await verifyFolder(workspace.publicDir)
})

it.each([
  [['--reason', 'privacy'], 2, /give the name of a release/],
  [['--reason', 'privacy', '--republish', FIRST], 2, /--republish goes with --dates/],
  [['--reason', 'privacy', '--dates', '2025-03-02', FIRST], 2, /give no release with it/],
  [['--reason', 'It was wrong.', '--dates', '2025-03-02'], 2, /--dates goes with --reason privacy/],
  [['--reason', 'privacy', '--dates', '2025-03-32'], 2, /--dates is not a date of the calendar: "2025-03-32"/],
  [['--reason', 'privacy', '--dates', '2025-03-03..2025-03-02'], 2, /2025-03-02 is before 2025-03-03/],
  [['--reason', 'privacy', '--dates', '2025-03-02..2025-04-02'], 2, /no release has 2025-04-02/],
  [['--reason', 'privacy', '--dates', '2025-03-01..2025-03-02..2025-03-03'], 2, /must be a date, or two/],
  [['--reason', 'privacy', '--dates', '2025-02-27..2025-03-04'], 1, /no release has another date than 2025-02-27/],
])('%j ends with exit code %i and changes nothing', async (args, expected, message) => {
  const before = await snapshotTree(original.publicDir)
  const { code, stderr } = await runCli(['withdraw', ...args], settings(original, AT))
  expect(stderr).toMatch(message)
  expect(code).toBe(expected)
  expect(await snapshotTree(original.publicDir)).toEqual(before)
})

it('a stop at any step leaves the old releases or none of the dates, and the same command completes it', async () => {
  const whole = await copyWorkspace(original)
  const { files: counted, steps } = recordSteps()
  await withdrawDatesIn(whole, DATES, AT, { files: counted })
  const expected = await snapshotTree(whole.publicDir)
  let completed = 0
  for (const last of someSteps(steps, 59)) {
    const workspace = await copyWorkspace(original)
    await expect(withdrawDatesIn(workspace, DATES, AT, { files: crashAfter(last) })).rejects.toThrow(LOST)
    const { path } = await readLatest(workspace)
    expect(await text(workspace, `${path}manifest.json`), `lost after step ${last}`).toContain('"content_hash"')
    const isBegun = (await readdir(join(workspace.dataDir, 'ledger'))).includes('generation-2')
    if (isBegun && last % 2 === 1) {
      await deliver(workspace, [])
      await expect(buildIn(workspace, '2025-03-11T10:00:00Z')).rejects.toThrow(/there is no public usage/)
    } else {
      const { outcome } = await withdrawDatesIn(workspace, DATES, AT)
      expect(outcome).toBe(isBegun ? 'unchanged' : 'withdrawn')
    }
    if (isBegun) completed += 1
    expect(await snapshotTree(workspace.publicDir), `lost after step ${last}`).toEqual(expected)
    expect(await readdir(join(workspace.dataDir, 'provenance'))).toEqual([`${FIRST}.json`])
    await removeWorkspace(workspace)
  }
  expect(completed).toBeGreaterThan(2)
})

it('changes nothing when Ctrl-C comes before the switch', async () => {
  const workspace = await copyWorkspace(original)
  const before = await snapshotTree(workspace.publicDir)
  const controller = new AbortController()
  const files = filesAfter((path) => {
    if (String(path).endsWith(`${NEXT}/manifest.json`)) controller.abort()
  })
  const withdrawing = withdrawDatesIn(workspace, DATES, AT, { files, signal: controller.signal })
  await expect(withdrawing).rejects.toThrow()
  expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  expect(await readdir(join(workspace.dataDir, 'disclosure'))).toEqual(['secret.key'])
})

describe('later builds', () => {
  const logs: Use[] = [['2025-02-27', 12], ['2025-03-01', 17], ['2025-03-02', 73019], ['2025-03-03', 81573, 'undercover'], ['2025-03-04', 19], ['2025-03-10', 23]] // biome-ignore format: rows

  it('leave the dates out until --republish, whatever the records say', async () => {
    const workspace = await copyWorkspace(original)
    await withdrawDatesIn(workspace, DATES, AT)
    await deliver(workspace, logs)
    const { warnings } = await buildIn(workspace, '2025-03-11T10:00:00Z')
    expect(rowsOf(await publishedCsv(workspace))).toEqual([...REST, '2025-03-10 a 23'])
    expect(warnings.map(({ date }) => date)).not.toContain('2025-03-02')
    expect(await tellers(workspace.publicDir)).toEqual([])
    await verifyFolder(workspace.publicDir)

    const back = await withdrawDatesIn(workspace, '2025-03-03', '2025-03-11T10:30:00Z', {}, { republish: true })
    expect(back).toMatchObject({ outcome: 'unchanged', republish: true })
    await buildIn(workspace, '2025-03-11T11:00:00Z')
    expect(rowsOf(await publishedCsv(workspace))).toContain('2025-03-03 undercover 81573')
    await verifyFolder(workspace.publicDir)
    await withdrawDatesIn(workspace, DATES, '2025-03-12T10:00:00Z', {}, { republish: true })
    const list = await readFile(join(workspace.dataDir, 'disclosure/dates.ndjson'), 'utf8')
    expect(list.trim().split('\n')).toHaveLength(1)
  })

  it('stop if the list of the dates is lost, with or without a rule, and leave them out if that is accepted', async () => {
    const workspace = await copyWorkspace(original)
    await withdrawDatesIn(workspace, DATES, AT)
    await rm(join(workspace.dataDir, 'disclosure'), { recursive: true })
    await deliver(workspace, logs)
    const building = buildIn(workspace, '2025-03-11T10:00:00Z')
    await expect(building).rejects.toThrow(/dates\.ndjson is missing, which keeps out .* restore the folder/)
    const back = withdrawDatesIn(workspace, '2025-03-03', AT, {}, { republish: true })
    await expect(back).rejects.toThrow('dates.ndjson is missing')
    await buildIn(workspace, '2025-03-11T10:00:00Z', {}, { accept: ['lost_disclosure'] })
    await buildIn(workspace, '2025-03-12T10:00:00Z')
    expect(rowsOf(await publishedCsv(workspace))).toEqual([...REST, '2025-03-10 a 23'])
  })

  it('stop if a withdrawal stopped before its switch, because changes.csv would list the rows', async () => {
    const workspace = await copyWorkspace(original)
    const files = filesAfter((path) => {
      if (String(path).includes('generation-2.next/')) throw new Error('no space left')
    })
    await expect(withdrawDatesIn(workspace, DATES, AT, { files })).rejects.toThrow(
      'the withdrawal of 2025-03-02 to 2025-03-03 is not complete: no space left; run the same command again',
    )
    await expect(buildIn(workspace, '2025-03-11T10:00:00Z')).rejects.toThrow(
      /has 2025-03-02 to 2025-03-03, which .* complete it: tokenboard withdraw --reason privacy --dates 2025-03-02\.\.2025-03-03/,
    )
    await withdrawDatesIn(workspace, DATES, AT)
    expect(await tellers(workspace.publicDir)).toEqual([])
  })
})

it('refuses an index whose hashes were removed without a privacy withdrawal', async () => {
  const workspace = await copyWorkspace(original)
  const path = join(workspace.publicDir, INDEX_PATH)
  const { releases, ...rest } = await readIndex(workspace)
  const [first, ...others] = releases.map(({ content_hash: _, manifest_sha256: _manifest, ...entry }) => entry)
  await writeFile(path, toJson({ ...rest, releases: [first, ...others] }))
  await expect(verifyFolder(workspace.publicDir)).rejects.toThrow(
    /content_hash: must be there, unless the release was withdrawn for privacy/,
  )
})

describe('under a disclosure rule', () => {
  const TAKEN_OUT = '2025-03-02'

  /** Two releases with three dates. */
  async function publishedGateway(): Promise<RuledGateway> {
    const gateway = await newRuledGateway()
    await gateway.deliver('2025-03-01', { a: SAFE })
    await gateway.deliver('2025-03-02', { a: SAFE, b: { dora: 73019, ben: 60000, cleo: 50000 } })
    await gateway.build('2025-03-04')
    await gateway.deliver('2025-03-03', { a: SAFE })
    await gateway.build('2025-03-05')
    return gateway
  }

  it('removes salts from the index and rows from the list of dates, which later builds leave out', async () => {
    const gateway = await publishedGateway()
    const { workspace } = gateway
    const salts = (await readIndex(workspace)).releases.map(({ salt }) => salt)
    expect(salts).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(salts[0]).not.toBe(salts[1])
    const summary = await withdrawDatesIn(workspace, TAKEN_OUT, '2025-03-05T13:00:00Z')
    expect(summary).toMatchObject({ unsalted: [], is_replaced: true })
    await gateway.verify()
    const { releases } = await readIndex(workspace)
    expect(releases.map(({ salt }) => salt !== undefined)).toEqual([false, false, true])
    expect(await gateway.days()).toEqual(['2025-03-01 final', '2025-03-02 not_published', '2025-03-03 final'])
    expect(await gateway.disclosure()).toMatchObject({ since: '2025-03-01', release: '20250305T120001Z' })
    const dates = await readFile(gateway.datesFile, 'utf8')
    expect(dates).toContain('"date":"2025-03-02","release":"20250304T120000Z"')
    expect(dates).toContain('"withdrawn_at":"2025-03-05T13:00:00Z"')
    expect(dates).not.toContain('183019')

    await gateway.deliver('2025-03-04', { a: SAFE })
    expect(await gateway.build('2025-03-06')).toEqual(['2025-03-01 a 60', '2025-03-03 a 60', '2025-03-04 a 60'])
    await gateway.verify()
    expect(await gateway.reproduce('2025-03-06')).toMatchObject({ equal: true })
  })

  it('stays when the list is restored from before it, or lost for good', async () => {
    const gateway = await publishedGateway()
    const { datesFile, workspace } = gateway
    const older = join(workspace.root, 'older')
    await cp(datesFile, older)
    await withdrawDatesIn(workspace, TAKEN_OUT, '2025-03-05T13:00:00Z')
    await cp(older, datesFile)
    await expect(gateway.build('2025-03-06')).rejects.toThrow('the list is older than a withdrawal of that date')
    const rest = ['2025-03-01 a 60', '2025-03-03 a 60']
    expect(await gateway.build('2025-03-06', { accept: ['lost_disclosure'] })).toEqual(rest)
    await rm(join(workspace.dataDir, 'disclosure'), { recursive: true })
    expect(await gateway.build('2025-03-07', { accept: ['lost_disclosure'] })).toEqual(rest)
    expect(await gateway.build('2025-03-08')).toEqual(rest)
  })

  it('publishes the dates again without a customer who was removed', async () => {
    const gateway = await publishedGateway()
    await gateway.deliver('2025-03-04', { a: SAFE })
    const rest = ['2025-03-03 a 60', '2025-03-04 a 60']
    await gateway.build('2025-03-08')
    await gateway.deliver('2025-03-02', { a: { ben: 15, cleo: 12, emil: 8 } })
    await withdrawDatesIn(gateway.workspace, TAKEN_OUT, '2025-03-08T13:00:00Z', {}, { republish: true })
    const { data_version } = await gateway.manifest()
    expect(await gateway.build('2025-03-09')).toEqual(['2025-03-01 a 60', '2025-03-02 a 35', ...rest])
    // It is no first publication: whoever has an old copy sees the difference.
    expect(await gateway.manifest()).toMatchObject({ data_version: `${Number(data_version?.split('.')[0]) + 1}.0.0` })
    expect((await readRestatements(gateway.workspace)).at(-1)).toMatchObject({
      release: '20250309T120000Z',
      dates: [{ date: TAKEN_OUT, rows_before: 0, tokens_before: '0', tokens_after: '35' }],
    })
    await gateway.verify()
    expect(await gateway.reproduce('2025-03-09')).toMatchObject({ equal: true })
  })
})
