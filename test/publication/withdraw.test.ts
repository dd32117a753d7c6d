/** `tokenboard withdraw`: what is left of a release, what follows, what is refused, and that a stop at any step is mended. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import { Catalog } from '../../pipeline/contract/catalog.ts'
import { Tombstone } from '../../pipeline/contract/tombstone.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { crashAfter, filesAfter, LOST, recordSteps, someSteps } from '../support/crash.ts'
import { coveredDay, namesIn, readCoverage, readIndex, text } from '../support/history.ts'
import {
  buildIn,
  createWorkspace,
  datasetFolder,
  newWorkspace,
  readLatest,
  removeWorkspace,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  withdrawIn,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { relistReleases, replaceInRelease } from '../support/reseal.ts'

const FIRST = '20250310T100000Z'
const SECOND = '20250310T110000Z'
const WITHDRAWN_AT = '2025-03-10T12:00:00Z'
const REASON = 'It named a customer.'

let original: Workspace

async function removeRevision(workspace: Workspace, revision: string): Promise<void> {
  for (const form of ['csv', 'json', 'parquet']) {
    await rm(join(datasetFolder(workspace), `${revision}.${form}`), { force: true })
  }
}

async function release(
  workspace: Workspace,
  days: [date: string, tokens: number][],
  asOf: string,
  top = {},
): Promise<void> {
  const records = days.map(([date, tokens]) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: 'a',
    prompt_tokens: String(tokens),
  }))
  await writeSmallBuild(workspace, { sources: [{ records }], top })
  await buildIn(workspace, asOf)
}

/** Two releases: the second changes one day and has one more in a month of its own. */
beforeAll(async () => {
  original = await createWorkspace()
  await release(original, [['2025-02-27', 1], ['2025-02-28', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await release(original, [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
})

afterAll(() => removeWorkspace(original))

async function copied(): Promise<Workspace> {
  const workspace = await newWorkspace()
  await cp(original.root, workspace.root, { recursive: true, verbatimSymlinks: true })
  return workspace
}

function prove(workspace: Workspace): ReturnType<typeof verify> {
  return verify(workspace.publicDir, { signal: new AbortController().signal, report: () => {} })
}

function withdrawSecond(workspace: Workspace): ReturnType<typeof withdrawIn> {
  return withdrawIn(workspace, SECOND, WITHDRAWN_AT, {}, { reason: REASON })
}

describe('withdrawing the current release', () => {
  let workspace: Workspace

  beforeAll(async () => {
    workspace = await createWorkspace()
    await cp(original.root, workspace.root, { recursive: true, verbatimSymlinks: true })
    const path = join(datasetFolder(workspace), 'releases', SECOND, 'TOMBSTONE.json')
    const summary = { release: SECOND, withdrawn_at: WITHDRAWN_AT, reason: REASON, path }
    expect(await withdrawSecond(workspace)).toEqual({
      outcome: 'withdrawn',
      ...summary,
      current: FIRST,
      was_current: true,
      still_told_by: [],
    })
  })

  afterAll(() => removeWorkspace(workspace))

  it('leaves its tombstone and nothing else of it', async () => {
    expect(await namesIn(workspace, `releases/${SECOND}`)).toEqual(['TOMBSTONE.json'])
    const before = (await readIndex(original)).releases[1]
    const tombstone = Tombstone.parse(JSON.parse(await text(workspace, `releases/${SECOND}/TOMBSTONE.json`)))
    expect(tombstone).toEqual({
      dataset: 'rankings-daily',
      release: SECOND,
      as_of: '2025-03-10T11:00:00Z',
      withdrawn_at: WITHDRAWN_AT,
      reason: REASON,
      manifest_sha256: before?.manifest_sha256,
      content_hash: before?.content_hash,
    })
  })

  it('makes the release before it current again, everywhere', async () => {
    expect((await readLatest(workspace)).release).toBe(FIRST)
    expect(await text(workspace, 'latest/rankings-daily.csv')).toContain('2025-02-28,a,5\n')
    const file = (path: string) => readFile(join(workspace.publicDir, path), 'utf8')
    const catalog = Catalog.parse(JSON.parse(await file('catalog.json')))
    expect(catalog.datasets[0]?.latest.release).toBe(FIRST)
    // As of the day of the release that is current again: a consumer sees that newer data are due.
    expect(catalog.datasets[0]).toMatchObject({
      next_expected: '2025-03-11T01:00:00Z',
      stale_after: '2025-03-12T01:00:00Z',
    })
    const page = await file('index.html')
    expect(page).toContain(`<code>${FIRST}</code>`)
    // Its history still names it, and leads to nothing that is gone.
    expect(page).toContain(`<s>${SECOND}</s>`)
    expect(page).not.toContain(`releases/${SECOND}/`)
    expect(await file('api/v1/datasets/rankings-daily.json')).toContain('"as_of":"2025-03-10T10:00:00Z"')
    expect(await readCoverage(workspace)).toMatchObject({ release: FIRST, end_date: '2025-02-28' })
  })

  it('marks it in the index, whose chain stays as it was', async () => {
    const [before, after] = [(await readIndex(original)).releases, (await readIndex(workspace)).releases]
    expect(after.map(({ hash, previous }) => [hash, previous])).toEqual(
      before.map(({ hash, previous }) => [hash, previous]),
    )
    expect(after).toMatchObject([
      { release: FIRST, status: 'current' },
      { release: SECOND, status: 'withdrawn', withdrawal: { withdrawn_at: WITHDRAWN_AT, reason: REASON } },
    ])
    expect(after[0]).not.toHaveProperty('superseded_by')
  })

  it('lets days and months follow, and removes the revisions that were its alone', async () => {
    expect(await coveredDay(workspace, '2025-02-28')).toMatchObject({ revision: 3, total_tokens: '5', release: FIRST })
    expect(await coveredDay(workspace, '2025-03-02')).toMatchObject({ status: 'missing', reason: 'removed', rows: 0 })
    expect(await text(workspace, 'daily/2025-02-28.csv')).toContain(',5\n')
    const forms = (number: number) => ['csv', 'json', 'parquet'].map((form) => `r${number}.${form}`)
    expect(await namesIn(workspace, 'daily/2025-02-28')).toEqual([...forms(1), ...forms(3)])
    expect(await namesIn(workspace, 'daily/2025-02-27')).toEqual(forms(1))
    expect((await namesIn(workspace, 'daily')).filter((name) => name.startsWith('2025-03'))).toEqual([])
    expect((await namesIn(workspace, 'monthly')).filter((name) => name.startsWith('2025-03'))).toEqual([])
  })

  it('is told in the feeds, at the time when it was withdrawn', async () => {
    const feed = JSON.parse(await readFile(join(workspace.publicDir, 'feed.json'), 'utf8'))
    expect(feed.items[0]).toMatchObject({
      tags: ['notice'],
      title: `Release ${SECOND} was withdrawn`,
      content_text: `Do not use this release any more. Reason: ${REASON}`,
      date_published: WITHDRAWN_AT,
    })
    expect(feed.items[0].url).toMatch(new RegExp(`/releases/${SECOND}/TOMBSTONE\\.json$`))
  })

  it('is proved by verify', async () => {
    expect(await prove(workspace)).toMatchObject({ releases: 2, latest: FIRST })
  })

  it('is named by verify where it leaves revisions that nothing can prove', async () => {
    const gone = ['daily/2025-02-28/r2', 'daily/2025-03-02/r1', 'monthly/2025-02/r2', 'monthly/2025-03/r1']
    expect((await prove(workspace)).not_verified).toEqual(gone)
  })
})

describe('after a withdrawal', () => {
  it('the next build compares with the release that is current, and gives no number twice', async () => {
    const workspace = await copied()
    await withdrawSecond(workspace)
    await release(workspace, [['2025-02-27', 1], ['2025-02-28', 5], ['2025-03-02', 8]], '2025-03-10T13:00:00Z') // biome-ignore format: rows
    const third = (await readIndex(workspace)).releases[2]
    expect(third).toMatchObject({ status: 'current', data_version: '2.1.0' })
    expect(await text(workspace, `releases/${third?.release}/changes.csv`)).toBe(
      'op,date,model_permaslug,tokens_before,tokens_after\ninsert,2025-03-02,a,,8\n',
    )
    expect(await coveredDay(workspace, '2025-03-02')).toMatchObject({ revision: 2, total_tokens: '8' })
    expect(await prove(workspace)).toMatchObject({ releases: 3, latest: third?.release })
  })

  it('a build of what the current release says makes no other one', async () => {
    const workspace = await copied()
    await withdrawSecond(workspace)
    await writeSmallBuild(workspace, {
      top: { on_missing: 'remove' },
      sources: [
        {
          records: [1, 5].map((tokens, day) => ({
            timestamp: `2025-02-${27 + day}T12:00:00Z`,
            model_permaslug: 'a',
            prompt_tokens: String(tokens),
          })),
        },
      ],
    })
    const before = await snapshotTree(workspace.publicDir)
    expect(await buildIn(workspace, '2025-03-10T13:00:00Z')).toMatchObject({ outcome: 'unchanged', release: FIRST })
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })

  it('no build takes the name of the withdrawn release', async () => {
    const workspace = await copied()
    await withdrawIn(workspace, SECOND, '2025-03-10T11:00:00Z')
    await expect(buildIn(workspace, '2025-03-10T11:00:00Z')).rejects.toThrow(/already a release as of 2025-03-10T11/)
  })

  it('an older release can go too, and the current one stays as it is', async () => {
    const workspace = await copied()
    const latest = await snapshotTree(join(datasetFolder(workspace), 'releases', SECOND))
    expect(await withdrawIn(workspace, FIRST, WITHDRAWN_AT)).toMatchObject({
      current: SECOND,
      was_current: false,
      still_told_by: [SECOND],
    })
    expect(await snapshotTree(join(datasetFolder(workspace), 'releases', SECOND))).toEqual(latest)
    expect((await readLatest(workspace)).release).toBe(SECOND)
    expect(await namesIn(workspace, 'daily/2025-02-28')).toEqual(['r2.csv', 'r2.json', 'r2.parquet'])
    expect(await prove(workspace)).toMatchObject({ releases: 2, latest: SECOND })
  })
})

describe('what cannot be withdrawn', () => {
  it.each([
    ['20250101T000000Z', {}, /there is no release 20250101T000000Z; the newest are 20250310T100000Z, 20250310T110000Z/],
    ['yesterday', {}, /"yesterday" must be the name of a release/],
    [SECOND, { reason: '' }, /--reason/],
    [SECOND, { reason: 'two\nlines' }, /--reason must be one line/],
  ])('is wrong usage: %s with %j', async (name, options, message) => {
    const withdrawing = withdrawIn(original, name, WITHDRAWN_AT, {}, options)
    await expect(withdrawing).rejects.toMatchObject({ name: 'CliError', message: expect.stringMatching(message) })
  })

  it('is the only release that stands, and one that is withdrawn already', async () => {
    const workspace = await copied()
    await withdrawSecond(workspace)
    const before = await snapshotTree(workspace.publicDir)
    await expect(withdrawIn(workspace, FIRST, WITHDRAWN_AT)).rejects.toThrow(/is the only one that stands/)
    await expect(withdrawIn(workspace, SECOND, WITHDRAWN_AT)).rejects.toThrow(
      `release ${SECOND} was withdrawn already, at ${WITHDRAWN_AT}: ${REASON}`,
    )
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })

  it('is anything at a time before the latest release', async () => {
    await expect(withdrawIn(original, FIRST, '2025-03-10T10:30:00Z')).rejects.toThrow(/is before that of the newest/)
  })
})

it('a dry run says what would happen and changes nothing', async () => {
  const before = await snapshotTree(original.root)
  expect(await withdrawIn(original, SECOND, WITHDRAWN_AT, {}, { dryRun: true })).toMatchObject({
    outcome: 'would_withdraw',
    current: FIRST,
    was_current: true,
  })
  expect(await snapshotTree(original.root)).toEqual(before)
})

it('is a command, with its summary as JSON', async () => {
  const workspace = await copied()
  const environment = settings(workspace, WITHDRAWN_AT)
  const { code, stdout, stderr } = await runCli(['withdraw', SECOND, '--reason', REASON, '--json'], environment)
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'withdrawn', release: SECOND, current: FIRST })
  expect(stderr).toContain(`current   ${FIRST} is current again`)
  expect((await runCli(['withdraw', 'x', '--reason', REASON], environment)).code).toBe(2)
  expect((await runCli(['withdraw', SECOND, '--reason', REASON], environment)).code).toBe(1)
})

it('a stop at any step leaves a whole release current, and the next build or withdrawal mends the rest', async () => {
  const whole = await copied()
  const { files: counted, steps } = recordSteps()
  await withdrawIn(whole, SECOND, WITHDRAWN_AT, { files: counted }, { reason: REASON })
  const expected = await snapshotTree(whole.publicDir)
  const tombstone = join('releases', SECOND, 'TOMBSTONE.json')
  let mended = 0
  // An odd number takes turns between what mends; `make soak` stops at every one.
  for (const last of someSteps(steps, 31)) {
    const workspace = await copied()
    const files = crashAfter(last)
    await expect(withdrawIn(workspace, SECOND, WITHDRAWN_AT, { files }, { reason: REASON })).rejects.toThrow(LOST)
    const { path } = await readLatest(workspace)
    expect(await readdir(join(datasetFolder(workspace), path)), `lost after step ${last}`).toContain('manifest.json')
    expect(await text(workspace, 'latest/manifest.json')).toContain('"content_hash"')

    const isWithdrawn = (await readdir(join(datasetFolder(workspace), 'releases', SECOND))).includes('TOMBSTONE.json')
    if (!isWithdrawn) await withdrawSecond(workspace)
    else if (last % 2 === 0) await expect(withdrawSecond(workspace)).rejects.toThrow(/was withdrawn already/)
    else {
      await writeSmallBuild(workspace, { sources: [{ records: [] }] })
      await expect(buildIn(workspace, '2025-03-10T13:00:00Z')).rejects.toThrow(/had 3 records/)
    }
    expect(await snapshotTree(workspace.publicDir), `lost after step ${last}`).toEqual(expected)
    if (isWithdrawn) mended += 1
    await removeWorkspace(workspace)
  }
  expect(await text(whole, tombstone)).toContain(REASON)
  expect(mended).toBeGreaterThan(2)
})

/** Withdraws, and calls `stop` when the switch puts the coverage in place. */
async function withdrawStopped(stop: (controller: AbortController) => void) {
  const workspace = await copied()
  const controller = new AbortController()
  const files = filesAfter((_from, to) => {
    if (String(to).endsWith('v1/coverage.json') && !String(to).includes('.staging')) stop(controller)
  })
  await withdrawIn(workspace, SECOND, WITHDRAWN_AT, { files, signal: controller.signal })
  return prove(workspace)
}

it('an error after the tombstone says that the release is withdrawn', async () => {
  const failed = withdrawStopped(() => {
    throw new Error('no space left')
  })
  await expect(failed).rejects.toThrow(
    `${SECOND} is withdrawn, but not all that follows is done: no space left; make build completes it`,
  )
})

it('Ctrl-C during the switch comes too late to stop the withdrawal', async () => {
  expect(await withdrawStopped((controller) => controller.abort())).toMatchObject({ latest: FIRST })
})

it('coverage still begins with the first date of all when the release that had it was withdrawn', async () => {
  const workspace = await createWorkspace()
  await release(workspace, [['2025-02-20', 1], ['2025-02-28', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await writeSmallBuild(workspace, {
    sources: [{ records: [{ timestamp: '2025-02-28T12:00:00Z', model_permaslug: 'a', prompt_tokens: '5' }] }],
    top: { on_missing: 'remove' },
  })
  await buildIn(workspace, '2025-03-10T11:00:00Z')
  await withdrawIn(workspace, FIRST, WITHDRAWN_AT)
  const { start_date, days } = await readCoverage(workspace)
  expect(start_date).toBe('2025-02-20')
  expect(days[0]).toMatchObject({ status: 'missing', reason: 'removed' })
  expect(await prove(workspace)).toMatchObject({ latest: SECOND })

  const path = join(datasetFolder(workspace), 'coverage.json')
  for (const [start, drop] of [
    ['2025-02-21', 1],
    ['2025-02-22', 1],
    ['2025-02-20', 2],
  ] as const) {
    // biome-ignore format: cases
    const kept = days.filter((_, position) => (drop === 1 ? position > 0 : position !== 1))
    await writeFile(path, toJson({ ...(await readCoverage(workspace)), start_date: start, days: kept }))
    await expect(prove(workspace), start).rejects.toThrow(
      /coverage\.json does not (begin with the first|have each) date/,
    )
  }
  await removeWorkspace(workspace)
})

describe('verify', () => {
  const folder = `releases/${SECOND}`

  it.each([
    ['a tombstone that says otherwise', `${folder}/TOMBSTONE.json`, REASON, 'Nothing.', /TOMBSTONE\.json does not say/],
    ['one of another release', `${folder}/TOMBSTONE.json`, SECOND, FIRST, /TOMBSTONE\.json does not say/],
    ['an index that calls it current', 'releases/index.json', '"withdrawn"', '"superseded"', /index\.json|TOMBSTONE/],
    ['an index that gives another reason', 'releases/index.json', REASON, 'Nothing.', /TOMBSTONE\.json does not say/],
    [
      'coverage of other tokens',
      'coverage.json',
      '"total_tokens": "5"',
      '"total_tokens": "6"',
      /coverage\.json says of/,
    ],
    ['a former revision', 'daily/2025-02-28/r1.csv', ',5', ',6', /r1\.csv holds rows with the hash/],
    ['a former revision as JSON', 'daily/2025-02-28/r1.json', 'T10:00', 'T09:00', /r1\.json is not the API's answer/],
    ['the newest revision', 'daily/2025-02-28/r3.csv', ',5', ',6', /r3\.csv holds rows with the hash/],
    [
      'a former revision as JSON with more',
      'daily/2025-02-28/r1.json',
      '}}',
      '}} ',
      /r1\.json is not the API's answer/,
    ],
    [
      'another reason why a date is missing',
      'coverage.json',
      '"removed"',
      '"no_public_usage"',
      /the wrong reason for 2025/,
    ],
  ])('names %s', async (_what, path, before, after, message) => {
    const workspace = await copied()
    await withdrawSecond(workspace)
    const file = join(datasetFolder(workspace), path)
    const found = await readFile(file, 'utf8')
    expect(found).toContain(before)
    await writeFile(file, found.replace(before, after))
    await expect(prove(workspace)).rejects.toThrow(message)
  })

  it.each([
    ['daily/2025-02-28/r1', /daily\/2025-02-28\/r1\.json is missing/],
    ['monthly/2025-02/r1', /monthly\/2025-02\/r1\.csv is missing/],
  ])('names %s of a release that stands when it is missing', async (revision, message) => {
    const workspace = await copied()
    await withdrawSecond(workspace)
    await removeRevision(workspace, revision)
    await expect(prove(workspace)).rejects.toThrow(message)
  })

  it('names a missing revision of a release that followed the withdrawn one', async () => {
    const workspace = await copied()
    const common: [string, number][] = [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9]] // biome-ignore format: rows
    await release(workspace, [...common, ['2025-03-04', 1]], '2025-03-10T11:10:00Z')
    await release(workspace, [...common, ['2025-03-04', 2]], '2025-03-10T11:20:00Z')
    await withdrawIn(workspace, SECOND, WITHDRAWN_AT)
    expect(await prove(workspace)).toMatchObject({ not_verified: ['monthly/2025-03/r1'] })
    await removeRevision(workspace, 'daily/2025-03-04/r1')
    await expect(prove(workspace)).rejects.toThrow(
      'daily/2025-03-04 lacks a revision with the rows of release 20250310T111000Z',
    )
  })

  it('names a missing revision that no withdrawn release can have made', async () => {
    const workspace = await newWorkspace()
    const days: [string, number][] = [['2025-02-27', 1], ['2025-03-02', 9]] // biome-ignore format: rows
    const removing = { on_missing: 'remove' }
    await release(workspace, days, '2025-03-10T10:00:00Z')
    await release(workspace, days.slice(0, 1), '2025-03-10T11:00:00Z', removing)
    await withdrawIn(workspace, SECOND, WITHDRAWN_AT)
    // r2 is the first release once more.
    await release(workspace, [...days.slice(0, 1), ['2025-03-02', 8]], '2025-03-10T13:00:00Z', removing)
    expect(await coveredDay(workspace, '2025-03-02')).toMatchObject({ revision: 3 })
    expect(await prove(workspace)).toMatchObject({ not_verified: [] })
    await removeRevision(workspace, 'daily/2025-03-02/r2')
    await expect(prove(workspace)).rejects.toThrow(
      'daily/2025-03-02 lacks r2, more than withdrawn releases can have made',
    )
  })

  it('names a changes.csv that says another number before, though the previous release was withdrawn', async () => {
    const workspace = await copied()
    const third = '20250310T111000Z'
    await release(workspace, [['2025-02-27', 2], ['2025-02-28', 8], ['2025-03-02', 9]], '2025-03-10T11:10:00Z') // biome-ignore format: rows
    await withdrawIn(workspace, SECOND, WITHDRAWN_AT)
    await prove(workspace)
    const folder = join(datasetFolder(workspace), 'releases', third)
    const changes = await readFile(join(folder, 'changes.csv'), 'utf8')
    expect(changes).toContain('2025-02-28,a,7,8')
    await replaceInRelease(folder, 'changes.csv', changes.replace('a,7,8', 'a,6,8'))
    await relistReleases(workspace)
    await expect(prove(workspace)).rejects.toThrow(`changes.csv does not lead from ${SECOND} to the rows of ${third}`)
  })

  it('names a superseded revision whose formats hold different rows', async () => {
    const workspace = await copied()
    await release(workspace, [['2025-02-27', 2], ['2025-02-28', 7], ['2025-03-02', 9]], '2025-03-10T11:10:00Z') // biome-ignore format: rows
    await release(workspace, [['2025-02-27', 3], ['2025-02-28', 7], ['2025-03-02', 9]], '2025-03-10T11:20:00Z') // biome-ignore format: rows
    await withdrawIn(workspace, SECOND, WITHDRAWN_AT)
    const day = join(datasetFolder(workspace), 'daily/2025-02-27')
    await cp(join(day, 'r2.parquet'), join(day, 'r1.parquet'))
    await expect(prove(workspace)).rejects.toThrow(/r1\.parquet holds rows with the hash/)
  })

  it('names a restatement for another reason, though what it restated was withdrawn', async () => {
    const workspace = await copied()
    await withdrawIn(workspace, FIRST, WITHDRAWN_AT)
    const file = join(datasetFolder(workspace), 'restatements.json')
    const found = await readFile(file, 'utf8')
    expect(found).toContain('"reason": "unspecified"')
    await writeFile(file, found.replace('"reason": "unspecified"', '"reason": "late_data"'))
    await expect(prove(workspace)).rejects.toThrow(`restatement-${SECOND} is not as it was`)
  })

  it.each([
    [`${folder}/rankings-daily.csv`, /is published, but its release was withdrawn/],
    ['daily/2025-02-28/r4.csv', /r4\.csv is published, but no release has made it/],
    ['daily/2025-02-28/r2.csv', /r2\.(json|parquet) is missing/],
  ])('names %s that should not be there', async (path, message) => {
    const workspace = await copied()
    await withdrawSecond(workspace)
    await writeFile(join(datasetFolder(workspace), path), '')
    await expect(prove(workspace)).rejects.toThrow(message)
  })
})
