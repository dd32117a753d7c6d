/** Releases under a disclosure rule, one after the other: what is published, and what never changes again. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeSummary } from '../../pipeline/commands/summary.ts'
import { DisclosureSettings, type RuleStatement } from '../../pipeline/contract/disclosure.ts'
import { heldSince, verifyDisclosure } from '../../pipeline/release/disclosure-file.ts'
import { filesAfter } from '../support/crash.ts'
import { Gateway } from '../support/gateway.ts'
import {
  buildIn,
  copyWorkspace,
  newWorkspace,
  publishedCsv,
  releaseFolder,
  rowsOf,
  runCli,
  settings,
  snapshotTree,
  withdrawDatesIn,
  withdrawIn,
  writeInput,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { newRuledGateway, RULE, RuledGateway, recordsOf, SAFE } from '../support/ruled-gateway.ts'

const FULL_RULE = { ...RULE, revise: 'never' }

it('names what is safe, sums the rest, and publishes a date once', async () => {
  const gateway = await newRuledGateway()
  await gateway.deliver('2025-03-01', { 'v/big': SAFE, 'v/solo': { anna: 7 }, 'v/pair': { ben: 6, cleo: 5, dora: 4 } })
  await gateway.deliver('2025-03-02', { 'v/solo': { anna: 100 } })
  await gateway.deliver('2025-03-03', { 'v/big': SAFE })
  const first = ['2025-03-01 v/big 60', '2025-03-01 other 22']
  expect(await gateway.build('2025-03-04')).toEqual(first)
  expect(await gateway.days()).toEqual(['2025-03-01 final'])
  const statement = { rule: FULL_RULE, since: '2025-03-01', protects: ['customers'], exempt: [] }
  const dates = { end_date: '2025-03-01', provisional_from: '2025-03-02' }
  expect(await gateway.manifest()).toMatchObject({ ...dates, disclosure: statement })
  expect(await gateway.disclosure()).toEqual({
    dataset: 'rankings-daily',
    release: '20250304T120000Z',
    as_of: '2025-03-04T12:00:00Z',
    synthetic: false,
    ...statement,
    periods: [{ start_date: '2025-03-01', end_date: '2025-03-01', rule: FULL_RULE }],
    joined_cells: 'fewer than 10',
    dates_not_published: 'fewer than 10',
  })
  expect(await gateway.summary('2025-03-04')).toMatchObject({ outcome: 'unchanged' })
  const derived = ['derive', await releaseFolder(gateway.workspace), '--out', join(gateway.workspace.root, 'derived')]
  expect(await runCli(derived, {})).toMatchObject({ code: 0 })

  // Late records, an opt-out, and a date that becomes safe.
  await gateway.deliver('2025-03-01', { 'v/big': { ben: 20, cleo: 10 }, 'v/late': SAFE })
  await gateway.deliver('2025-03-02', { 'v/solo': { anna: 100, ben: 90, cleo: 80 } })
  const second = [...first, '2025-03-02 v/solo 270', '2025-03-03 v/big 60']
  expect(await gateway.build('2025-03-05')).toEqual(second)
  expect(await gateway.days()).toEqual(['2025-03-01 final', '2025-03-02 final', '2025-03-03 final'])
  await gateway.verify()
  expect(await gateway.privateDetail()).toMatchObject({
    joined_cells: [{ date: '2025-03-01', cells: 2 }],
    not_published: [],
    late: [{ date: '2025-03-01', published_tokens: '82', counted_tokens: '90' }],
  })
  // Both models that `other` sums on the first date are hidden there: v/pair makes it safe.
  const weeks = ['2025-02-24 v/big 60 2', '2025-02-24 other 292 2', '2025-03-03 v/big 60 1']
  expect(await gateway.weeks()).toEqual(weeks)

  // A date that comes late is no restatement: nothing that was published changes.
  await gateway.deliver('2025-02-20', { 'v/big': SAFE })
  expect(await gateway.build('2025-03-06')).toEqual(['2025-02-20 v/big 60', ...second])
  expect(await gateway.manifest()).toMatchObject({ data_version: '1.2.0', disclosure: { since: '2025-02-20' } })
  await gateway.verify()
  await gateway.startFromNothing()
  expect(await gateway.build('2025-03-07')).toEqual(['2025-02-20 v/big 60', ...second])
  expect(await gateway.weeks()).toEqual(['2025-02-17 v/big 60 1', ...weeks])
})

it('freezes what was published before the rule, whatever the registry says later', async () => {
  const gateway = await newRuledGateway(undefined)
  await writeInput(gateway.workspace, 'models.json', models({ 'v/solo': true, 'v/big': true }))
  const source = { visibility: 'registry' }
  const top = { models: 'models.json', max_withheld_share: 1 }
  await gateway.rule(undefined, source, top)
  await gateway.deliver('2025-03-01', { 'v/solo': { anna: 7 } })
  await gateway.deliver('2025-03-03', { 'v/solo': { anna: 8 } })
  const before = await gateway.build('2025-03-04')
  await gateway.rule({ ...RULE, publish_after_days: 3 }, source, top)
  await writeInput(gateway.workspace, 'models.json', models({ 'v/solo': false, 'v/big': true }))
  await gateway.deliver('2025-03-04', { 'v/solo': { anna: 8 }, 'v/big': SAFE })
  expect(await gateway.build('2025-03-05')).toEqual(before)
  const said = describeSummary(await gateway.summary('2025-03-05', { dryRun: true }))
  expect(said).toContain('2 dates from before the rule keep their rows, which the rule does not protect: docs/')
  const manifest = await gateway.manifest()
  expect(manifest).toMatchObject({ end_date: '2025-03-03', disclosure: { since: null } })
  expect(manifest.changes?.facts).toContain('disclosure')
  expect((await gateway.disclosure()).periods).toEqual([
    { start_date: '2025-03-01', end_date: '2025-03-03', rule: null },
  ])
  expect(await gateway.days()).toEqual(['2025-03-01 final', '2025-03-02 not_published', '2025-03-03 final'])
  expect(await gateway.build('2025-03-08')).toEqual([...before, '2025-03-04 v/big 60'])
  expect(await readFile(join(await releaseFolder(gateway.workspace), 'models.csv'), 'utf8')).toContain('\nv/solo,,,[],')
  await gateway.verify()
  for (const date of ['2025-03-04', '2025-03-05', '2025-03-08']) {
    await writeInput(gateway.workspace, 'models.json', models({ 'v/solo': date === '2025-03-04', 'v/big': true }))
    const { files } = await gateway.reproduce(date)
    expect(files.filter(({ comparison }) => comparison !== 'equal')).toEqual([])
  }
})

it('leaves out what only earlier releases had when the rule begins, until it is let back', async () => {
  const gateway = await newRuledGateway()
  await gateway.rule(undefined)
  await gateway.deliver('2025-03-01', { 'v/big': SAFE })
  await gateway.deliver('2025-03-02', { 'v/big': SAFE })
  await gateway.build('2025-03-05')
  await rm(gateway.gateway.path('2025-03-02.ndjson'))
  await gateway.deliver('2025-03-03', { 'v/big': SAFE })
  await gateway.build('2025-03-06')
  await withdrawIn(gateway.workspace, '20250306T120000Z', '2025-03-06T13:00:00Z')
  await rm(gateway.gateway.path('2025-03-03.ndjson'))
  const held = ['2025-03-01 v/big 60']
  expect(await gateway.build('2025-03-07')).toEqual(held)
  await gateway.rule(RULE)
  const { ben, cleo } = SAFE
  for (const date of ['2025-03-02', '2025-03-03']) await gateway.deliver(date, { 'v/big': { ben, cleo, emil: 12 } })
  expect(await gateway.build('2025-03-08')).toEqual(held)
  expect(await gateway.build('2025-03-09')).toEqual(held)
  const dates = '2025-03-02..2025-03-03'
  await withdrawDatesIn(gateway.workspace, dates, '2025-03-09T13:00:00Z', {}, { republish: true })
  expect(await gateway.build('2025-03-10')).toEqual([...held, '2025-03-02 v/big 46', '2025-03-03 v/big 46'])
  await gateway.verify()
})

it('applies another rule to later dates alone, and asks before a looser one', async () => {
  const gateway = await newRuledGateway()
  await gateway.deliver('2025-03-01', { 'v/big': SAFE })
  const first = await gateway.build('2025-03-03')
  await gateway.rule({ ...RULE, min_contributors: 4 })
  await gateway.deliver('2025-03-02', { 'v/big': SAFE })
  expect(await gateway.build('2025-03-04')).toEqual(first)
  await gateway.rule(RULE)
  await expect(gateway.build('2025-03-05')).rejects.toThrow('min_contributors was 4, and is 3')
  const second = [...first, '2025-03-02 v/big 60']
  expect(await gateway.build('2025-03-05', { accept: ['looser_disclosure'] })).toEqual(second)
  await gateway.rule('none')
  await gateway.deliver('2025-03-01', { 'v/big': SAFE, 'v/late': SAFE })
  await gateway.deliver('2025-03-03', { 'v/solo': { anna: 1 } })
  await expect(gateway.build('2025-03-06')).rejects.toThrow('--accept looser_disclosure')
  const third = [...second, '2025-03-03 v/solo 1']
  expect(await gateway.build('2025-03-06', { accept: ['looser_disclosure'] })).toEqual(third)
  expect(await gateway.weeks()).toEqual(['2025-02-24 v/big 120 2', '2025-03-03 v/solo 1 1'])
  expect(await gateway.manifest()).toMatchObject({ disclosure: 'none' })
  expect(await snapshotTree(await releaseFolder(gateway.workspace))).not.toHaveProperty(['disclosure.json'])
  await gateway.deliver('2025-03-03', { 'v/solo': { anna: 2 } })
  expect(await gateway.build('2025-03-07')).toEqual([...second, '2025-03-03 v/solo 2'])
  await gateway.rule(RULE)
  await gateway.deliver('2025-03-03', { 'v/solo': { anna: 3 } })
  expect(await gateway.build('2025-03-08')).toEqual([...second, '2025-03-03 v/solo 2'])
  expect((await gateway.disclosure()).periods).toEqual([
    { start_date: '2025-03-01', end_date: '2025-03-02', rule: FULL_RULE },
    { start_date: '2025-03-03', end_date: '2025-03-03', rule: null },
  ])
  await gateway.verify()
})

it('asks before another column says whose usage it is, or a source becomes exempt', async () => {
  const gateway = await newRuledGateway()
  await gateway.deliver('2025-03-01', { 'v/big': SAFE })
  await gateway.build('2025-03-03')
  await gateway.rule(RULE, { contributors: 'exempt', note: 'Ours.' })
  await expect(gateway.build('2025-03-04')).rejects.toThrow(/--accept looser_disclosure/)
  await gateway.rule(RULE, { columns: { contributor: 'request_id' } })
  await expect(gateway.build('2025-03-04')).rejects.toThrow('source "gateway": was ["column","canonical",null], and is')
  await gateway.build('2025-03-04', { accept: ['looser_disclosure'] })
  await gateway.deliver('2025-03-02', { 'v/big': SAFE })
  await gateway.build('2025-03-05')
})

it('does not publish half a date where blocking checks find that a source is late', async () => {
  const gateway = await newRuledGateway()
  const sources = ['a', 'b'].map((name) => ({
    name,
    schema: 'canonical',
    files: [`raw/${name}-*`],
    visibility: 'public',
  }))
  await writeInput(gateway.workspace, 'sources.json', { disclosure: RULE, blocking: ['silent_source'], sources })
  for (const name of ['a-1', 'b-1']) await gateway.deliver('2025-03-01', { [`v/${name}`]: SAFE }, { name })
  const first = await gateway.build('2025-03-03')
  await gateway.deliver('2025-03-02', { 'v/a-1': SAFE }, { name: 'a-2' })
  await expect(gateway.build('2025-03-04')).rejects.toThrow('2025-03-02: source "b" delivered no record of this date')
  await gateway.deliver('2025-03-02', { 'v/b-1': SAFE }, { name: 'b-2' })
  expect(await gateway.build('2025-03-04')).toEqual([...first, '2025-03-02 v/a-1 60', '2025-03-02 v/b-1 60'])
})

it('says what to do where nothing is safe', async () => {
  const gateway = await newRuledGateway()
  await gateway.deliver('2025-03-01', { 'v/solo': { anna: 1 } })
  await expect(gateway.build('2025-03-02')).rejects.toThrow('there is no public usage from 2025-01-01 to 2025-02-28')
  await expect(gateway.build('2025-03-03')).rejects.toThrow('no number up to 2025-03-01 is safe under the rule')
})

it('states whom the rule protects, and why some usage is nobody’s', async () => {
  const workspace = await newWorkspace()
  const big = { anna: 10, ben: 10, cleo: 10, dan: 10, eve: 10, finn: 10 }
  const records = recordsOf('2025-03-02', { 'v/big': big }, { api_key_hash: 'k' })
  const extraColumns = ['contributor', 'api_key_hash']
  const settings = [{ contributors: 'keys' }, { contributors: 'exempt', note: 'Our tests.' }, {}]
  const sources = settings.map((each) => ({ records, extraColumns, settings: each }))
  await writeSmallBuild(workspace, { sources, top: { disclosure: RULE } })
  await buildIn(workspace)
  const { protects, exempt } = await new RuledGateway(new Gateway(workspace)).disclosure()
  expect({ protects, exempt }).toEqual({ protects: ['customers', 'api_keys'], exempt: ['Our tests.'] })
})

it('verifies that disclosure.json says what the manifest and the rows say', async () => {
  const gateway = await newRuledGateway()
  await gateway.deliver('2025-03-01', { 'v/big': SAFE })
  await gateway.build('2025-03-03')
  const folder = await releaseFolder(gateway.workspace)
  const [manifest, disclosure] = [await gateway.manifest(), await gateway.disclosure()]
  const row = { date: '2025-03-01', model_permaslug: 'v/big', total_tokens: '60' }
  const verifyWith = async (other: Partial<typeof disclosure>, list = manifest) => {
    await writeFile(join(folder, 'disclosure.json'), JSON.stringify({ ...disclosure, ...other }))
    await verifyDisclosure(folder, list, [row])
  }
  await verifyWith({})
  const [period] = disclosure.periods
  const wrong = [
    { since: null },
    { protects: [] },
    { as_of: '2025-03-03T12:00:01Z' },
    { periods: [{ start_date: '2025-02-01', end_date: '2025-03-01', rule: period?.rule ?? null }] },
  ]
  for (const each of wrong) {
    await expect(verifyWith(each)).rejects.toThrow(`says another ${Object.keys(each)[0]} than the manifest`)
  }
  const early = { since: '2025-01-01' }
  const claimed = { ...(manifest.disclosure as RuleStatement), ...early }
  await expect(verifyWith(early, { ...manifest, disclosure: claimed })).rejects.toThrow('says another since than')
  await expect(verifyWith({}, { ...manifest, disclosure: 'none' })).rejects.toThrow('is there, but')
  const files = manifest.files.filter(({ path }) => path !== 'disclosure.json')
  await expect(verifyWith({}, { ...manifest, files })).rejects.toThrow('is missing, but')
})

it('tells the maintainer in a dry run what a rule would do, and keeps nothing', async () => {
  const gateway = await newRuledGateway()
  await gateway.deliver('2025-03-01', { 'v/big': SAFE, 'v/solo': { anna: 1 }, 'v/duo': { ben: 1 }, 'v/trio': SAFE })
  const before = await snapshotTree(gateway.workspace.root)
  const { stderr } = await runCli(['build', '--dry-run'], settings(gateway.workspace, '2025-03-04T12:00:00Z'))
  expect(stderr).toContain('  rule      at least 3 customers, none of whom another can estimate to within 10 %')
  expect(stderr).toContain('            1 new date: 3 models joined "other"; 0 dates not published\n')
  expect(await snapshotTree(gateway.workspace.root)).toEqual(before)
})

describe('the list of published dates', () => {
  async function published(): Promise<RuledGateway> {
    const gateway = await newRuledGateway()
    await gateway.deliver('2025-03-01', { 'v/big': SAFE })
    await gateway.build('2025-03-03')
    await gateway.deliver('2025-03-01', { 'v/big': SAFE, 'v/late': SAFE })
    return gateway
  }
  const ROWS = ['2025-03-01 v/big 60']

  it('must be there, or its loss be accepted', async () => {
    const gateway = await published()
    await rm(join(gateway.workspace.dataDir, 'disclosure'), { recursive: true })
    const message =
      'dates.ndjson does not know 2025-03-01, which release 20250303T120000Z published under a disclosure rule'
    await expect(gateway.build('2025-03-04')).rejects.toThrow(message)
    await expect(gateway.reproduce('2025-03-03')).rejects.toThrow('dates.ndjson does not know 2025-03-01')
    expect(await gateway.build('2025-03-04', { accept: ['lost_disclosure'] })).toEqual(ROWS)
    expect(await gateway.build('2025-03-05')).toEqual(ROWS)
    expect(await gateway.weeks()).toEqual(['2025-02-24 v/big 60 1'])
    const habit = ['build', '--accept', 'lost_disclosure']
    const { stderr } = await runCli(habit, settings(gateway.workspace, '2025-03-05T12:00:00Z'))
    expect(stderr).toContain('--accept lost_disclosure did nothing, because the list of published dates is whole')
    const [period] = (await gateway.disclosure()).periods
    expect(period?.rule).toEqual(FULL_RULE)
    await gateway.verify()
  })

  it('stops a build when it is damaged or not that of its secret, and is sealed again if its loss is accepted', async () => {
    const gateway = await published()
    const { datesFile } = gateway
    const secretFile = datesFile.replace('dates.ndjson', 'secret.key')
    const [list, secret] = [await readFile(datesFile, 'utf8'), await readFile(secretFile)]
    const changed = list.replace('"60"', '"61"')
    for (const damage of [
      () => writeFile(datesFile, changed),
      () => writeFile(datesFile, list.split('\n').slice(0, 1).join('\n')),
      () => writeFile(secretFile, 'a'.repeat(64)),
      () => rm(secretFile),
    ]) {
      await damage()
      await expect(gateway.build('2025-03-04')).rejects.toThrow(/dates\.ndjson .*restore .*--accept lost_disclosure/)
      await writeFile(datesFile, list)
      await writeFile(secretFile, secret)
    }
    await writeFile(datesFile, changed)
    await rm(secretFile)
    expect(await gateway.build('2025-03-05', { accept: ['lost_disclosure'] })).toEqual(ROWS)
    expect(await gateway.build('2025-03-06', { newChain: true })).toEqual(ROWS)
  })

  it('may know dates of a release that did not become public: the next one has them', async () => {
    const gateway = await newRuledGateway()
    await gateway.deliver('2025-03-01', { 'v/big': SAFE })
    const files = filesAfter((_, to) => {
      if (String(to).endsWith('provenance/20250303T120000Z.json')) throw new Error('stopped')
    })
    await expect(buildIn(gateway.workspace, '2025-03-03T12:00:00Z', { files })).rejects.toThrow('stopped')
    await gateway.deliver('2025-03-01', { 'v/big': SAFE, 'v/late': SAFE })
    for (const time of ['2025-03-03T12:00:00Z', '2025-03-04T12:00:00Z']) {
      const copy = await copyWorkspace(gateway.workspace)
      await buildIn(copy, time)
      expect(rowsOf(await publishedCsv(copy))).toEqual(ROWS)
    }
  })
})

function models(visible: Record<string, boolean>): unknown {
  return Object.entries(visible).map(([model_permaslug, isPublic]) => {
    return { model_permaslug, public: isPublic, name: `Name of ${model_permaslug}`, author: 'Acme' }
  })
}

it.each([
  [[null, 'old', 'new'], '2025-03-03'],
  [['new', null, 'new'], '2025-03-03'],
  [['new'], '2025-03-01'],
  [['new', 'old'], null],
] as const)('knows from when on %j have the new rule without exception', (rules, since) => {
  const known = { old: DisclosureSettings.parse({}), new: DisclosureSettings.parse({ min_contributors: 7 }) }
  const periods = rules.map((name, position) => {
    const date = `2025-03-0${position + 1}`
    return { start_date: date, end_date: date, rule: name === null ? null : known[name] }
  })
  expect(heldSince(periods, DisclosureSettings.parse({ min_contributors: 7 }))).toBe(since)
})
