/** `tokenboard init`: from raw logs to the files that a build takes as they are. */
import { cp, link, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Effects } from '../../pipeline/base/effects.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import type { InitOptions } from '../../pipeline/commands/run-init.ts'
import { AS_OF, initIn, workspaceWith, YES } from '../support/init.ts'
import {
  buildAndListen,
  buildIn,
  publishedCsv,
  REPOSITORY,
  rowsOf,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER } from '../support/publisher.ts'

const PRODUCTS = join(REPOSITORY, 'test/schemas')
const OWN_FILES = ['source.json', 'expected.json']
const VERTEX = 'logs-000000000000.json'
/** What LiteLLM left out of these counts, no record says. */
const NOT_GUESSED = ['without-cache-writes.ndjson']
const { name: publisherName, url: publisherUrl, contact } = TEST_PUBLISHER
/** For who has a publisher already. */
const AGAIN = { yes: true, force: true }
const PUBLISHER = [publisherName, publisherUrl, contact]

async function readJson(path: string) {
  return JSON.parse(await readFile(path, 'utf8'))
}

async function rowsAfterBuild(workspace: Workspace, asOf = AS_OF): Promise<string[]> {
  await buildIn(workspace, asOf)
  return rowsOf(await publishedCsv(workspace))
}

const WINDOWS = [
  'window_start,model,num_requests,prompt_tokens,completion_tokens',
  '2025-03-02T23:50:00-08:00,acme/large,10,800,200',
  '2025-03-02T15:50:00-08:00,acme/small,1,8,2',
  '',
].join('\n')
const TRACE =
  '{"timestamp":0,"input_length":8,"output_length":2,"hash_ids":[1]}\n{"timestamp":86400000,"input_length":1,"output_length":1}\n'
const OLD = 'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10'

describe('init', () => {
  it('goes from the files of all products in one folder to what the products count', async () => {
    const workspace = await workspaceWith({})
    const expected = new Map<string, number>()
    for (const product of await readdir(PRODUCTS)) {
      await cp(join(PRODUCTS, product), join(workspace.input, 'logs', product), { recursive: true })
      for (const name of [...OWN_FILES, ...NOT_GUESSED]) {
        await realFiles.remove(join(workspace.input, 'logs', product, name))
      }
      for (const row of (await readJson(join(PRODUCTS, product, 'expected.json'))).rows as string[]) {
        const [, key = '', tokens] = /^(.+) (\d+)$/.exec(row) ?? []
        if (!row.startsWith('2025-06-01 claude-3-7-sonnet'))
          expected.set(key, (expected.get(key) ?? 0) + Number(tokens))
      }
    }
    // It looks private, but is listed as public here.
    expected.set('2025-01-01 ft:gpt-4o-2024-08-06:acme::x1', 540)
    // One of its pages is the message of an error, which stops a build.
    const pages = join(workspace.input, 'logs/helicone-api/pages.ndjson')
    const lines = (await readFile(pages, 'utf8')).split('\n')
    await writeFile(pages, lines.filter((line) => line === '' || line.includes('"data": [')).join('\n'))
    const { sources, dry_run } = await initIn(workspace, {
      ...YES,
      public: ['*'],
      acceptRejected: true,
      allLogged: true,
    })
    expect(dry_run).toMatchObject({ rows: expected.size })
    const rows = [...expected].map(([key, tokens]) => `${key} ${tokens}`)
    expect((await rowsAfterBuild(workspace)).toSorted()).toEqual(rows.toSorted())
    // Each in a folder of its own, so that files that come later are read too.
    const files = sources.flatMap(({ entry }) => entry.files)
    expect(files.filter((entry) => entry.includes('*')).length).toBeGreaterThan(files.length / 2)
  })

  it('does not take a log that may be a sample for all requests', async () => {
    const vertex = await readFile(join(PRODUCTS, 'vertex-ai-logs', VERTEX))
    const workspace = await workspaceWith({ [VERTEX]: vertex })
    await expect(initIn(workspace, YES)).rejects.toThrow('--all-logged')
    await expect(initIn(workspace, {}, { answers: ['no'] })).rejects.toThrow('a sample would count too little')
    expect((await initIn(workspace, { ...YES, allLogged: true })).dry_run).toBeDefined()
  })

  it('asks which models are public, who publishes and whether to write, and counts each date in UTC', async () => {
    const workspace = await workspaceWith({ 'usage-10min.csv': WINDOWS, 'README.md': '# Logs' })
    const answers = ['', '', ...PUBLISHER, '', 'yes']
    const { shown, dry_run, skipped } = await initIn(workspace, {}, { answers })
    expect(shown).toContain('2025-03-03\nrank  model       tokens\n1     acme/large   1,000\n')
    expect(shown).toMatch(/make build/)
    expect(skipped).toEqual([join(workspace.input, 'logs/README.md')])
    expect(dry_run).toMatchObject({ published_share: { share: 1 } })
    expect(await rowsAfterBuild(workspace)).toEqual(['2025-03-02 acme/small 10', '2025-03-03 acme/large 1000'])
    expect(await readJson(join(workspace.input, 'models.json'))).toEqual([
      { model_permaslug: 'acme/large', public: true, name: 'large', author: 'acme' },
      { model_permaslug: 'acme/small', public: true, name: 'small', author: 'acme' },
    ])
  })

  it('asks for the model and the start of records that have neither', async () => {
    const workspace = await workspaceWith({ 'trace.jsonl': TRACE })
    const answers = ['lab/one', 'soon', '2025-03-01T12:00:00Z', 'all', 'none', ...PUBLISHER, '', '']
    const { shown } = await initIn(workspace, {}, { answers })
    expect(shown).toContain('"soon" must be an ISO 8601 instant')
    expect(await rowsAfterBuild(workspace)).toEqual(['2025-03-01 lab/one 10', '2025-03-02 lab/one 2'])
  })

  it('asks whether relative times are seconds or milliseconds where both may be', async () => {
    const trace = [0, 86400, 172800].map((time) => TRACE.split('\n')[0]?.replace('0', `${time}`)).join('\n')
    const workspace = await workspaceWith({ 'trace.jsonl': trace })
    const flags = { ...YES, model: ['lab/one'], baseTime: ['2026-03-01T00:00:00Z'] }
    await expect(initIn(workspace, flags)).rejects.toThrow(
      '0 to 172,800; the last is 2026-03-03T00:00:00.000Z in seconds, 2026-03-01T00:02:52.800Z in milliseconds',
    )
    await initIn(workspace, { ...flags, timeUnit: ['seconds'] })
    expect((await readJson(workspace.sources)).sources).toMatchObject([{ time_unit: 'seconds' }])
    expect(await rowsAfterBuild(workspace)).toEqual([1, 2, 3].map((day) => `2026-03-0${day} lab/one 10`))
  })

  it('takes the same answers from flags, for all sources or for one', async () => {
    const workspace = await workspaceWith({ 'trace.jsonl': TRACE, 'old/old.csv': OLD, 'usage.csv': WINDOWS })
    const flags = { model: ['lab/one', 'old=lab/old'], baseTime: ['2025-03-01T12:00:00Z'], timezone: ['Asia/Tokyo'] }
    const { sources } = await initIn(workspace, { ...YES, ...flags, public: ['all'], private: ['acme/s*'] })
    expect(sources.map(({ entry }) => [entry.name, entry.model, entry.timezone])).toEqual([
      ['old', 'lab/old', 'Asia/Tokyo'],
      ['logs', 'lab/one', undefined],
      ['logs-2', undefined, undefined],
    ])
    expect(await rowsAfterBuild(workspace)).toEqual([
      '2025-03-01 lab/one 10',
      '2025-03-02 lab/one 2',
      '2025-03-03 acme/large 1000',
    ])
    for (const [wrong, message] of [
      [{ model: ['else=m'] }, 'names no source'],
      [{ timezone: ['Mars'] }, '--timezone "Mars": must be a time zone'],
      [{ ...flags, public: ['acme/lrge'] }, '"acme/large"?'],
    ] as const)
      await expect(initIn(workspace, { ...AGAIN, ...wrong } as Partial<InitOptions>)).rejects.toThrow(message)
  })

  it('leaves out files that cannot be read, and says why', async () => {
    const workspace = await workspaceWith({
      'a.csv': WINDOWS,
      'b.csv.gz': gzipSync(WINDOWS),
      'utf-16.csv': Buffer.from(`\ufeff${WINDOWS}`, 'utf16le'),
      'book.csv': 'PK\u0003\u0004 a spreadsheet',
      'cut.csv.gz': gzipSync(WINDOWS.repeat(500)).subarray(0, 200),
      'weather.csv': 'city,degrees\nOslo,7\n',
      'empty.csv': '',
      '2024.tar.gz': 'an archive',
      _SUCCESS: '',
    })
    const logs = join(workspace.input, 'logs')
    await symlink('nowhere.csv', join(logs, 'dangling.csv'))
    await link(join(logs, 'a.csv'), join(logs, 'z.csv'))
    await symlink('utf-16.csv', join(logs, 'current.csv'))
    await expect(initIn(workspace, YES)).rejects.toThrow(/--accept-rejected +3 raw files cannot be read, such as/)
    const { sources, unfit, skipped } = await initIn(workspace, { ...YES, acceptRejected: true })
    const reasons = unfit.map(({ file, why }) => `${file.slice(logs.length + 1)} ${why}`).toSorted()
    expect(reasons).toEqual([
      'book.csv is a ZIP archive, not CSV: unpack it first',
      `current.csv is the same file as ${join(logs, 'utf-16.csv')}`,
      'cut.csv.gz cannot be read whole: unexpected end of file',
      'dangling.csv is a link to a file that is missing',
      'empty.csv is empty',
      expect.stringMatching(/^weather.csv the nearest schema is/),
      `z.csv is the same file as ${join(logs, 'a.csv')}`,
    ])
    expect(skipped.map((name) => name.slice(logs.length + 1))).toEqual(['2024.tar.gz', '_SUCCESS'])
    expect(sources.map(({ entry, reading }) => [entry.files, reading.read])).toEqual([
      [[join(logs, '**/!(book|dangling|weather).csv'), join(logs, '**/!(cut).csv.gz')], 6],
    ])
    expect(await rowsAfterBuild(workspace)).toEqual(['2025-03-02 acme/small 30', '2025-03-03 acme/large 3000'])
  })

  it('reads files that come later, and a build tells of those that no source reads', async () => {
    const workspace = await workspaceWith({ 'u1.csv.gz': gzipSync(WINDOWS), 'u2.csv.gz': gzipSync(OLD) })
    const { shown } = await initIn(workspace, { ...YES, model: ['m'] })
    const logs = join(workspace.input, 'logs')
    expect(shown).toContain(`new files in ${logs} will not be read`)
    await writeInput(workspace, 'logs/u3.csv.gz', gzipSync(WINDOWS))
    const { notices } = await buildAndListen(workspace, AS_OF)
    expect(notices).toEqual([`no source reads u3.csv.gz in ${logs}: if it is usage, add it to "files" of its source`])
  })

  it('takes the model from folders', async () => {
    const log = 'ts,input_tokens,output_tokens\n2025-03-02T12:00:00Z,8,2\n'
    const workspace = await workspaceWith({ 'model=acme%2Flarge/a.csv': log, 'model=acme%2Fsmall/a.csv': log })
    const { sources } = await initIn(workspace, YES)
    expect(sources.map(({ entry }) => entry.files)).toEqual([[join(workspace.input, 'logs/**/*.csv')]])
    expect(await rowsAfterBuild(workspace)).toEqual(['2025-03-02 acme/large 10', '2025-03-02 acme/small 10'])
  })

  it('refuses logs of which nothing may be published, unless they are wanted anyway', async () => {
    const workspace = await workspaceWith({ 'trace.csv': OLD })
    const before = await snapshotTree(workspace.root)
    const why = 'all usage is before 2025-01-01'
    await expect(initIn(workspace, { ...YES, model: ['m'] })).rejects.toThrow(why)
    await expect(initIn(workspace, {}, { answers: ['no'] })).rejects.toThrow(why)
    expect(await snapshotTree(workspace.root)).toEqual(before)
    const { dry_run, files } = await initIn(workspace, { ...YES, model: ['m'], anyway: true })
    expect({ dry_run, files: files.length }).toEqual({ dry_run: undefined, files: 3 })
    const tooEarly = initIn(await workspaceWith({ 'a.csv': WINDOWS }), YES, { asOf: '2025-03-02T12:00:00Z' })
    await expect(tooEarly).rejects.toThrow('after 2025-03-03 UTC is over')
    const unread = initIn(await workspaceWith({ 'README.md': '# Logs' }), YES)
    await expect(unread).rejects.toThrow(/no raw file of .*logs can be read/)
  })

  it('names all questions and their flags if nobody answers, and writes nothing', async () => {
    const workspace = await workspaceWith({ 'trace.jsonl': TRACE })
    const before = await snapshotTree(workspace.root)
    const flags = ['--model', '--base-time', '--publisher-name', '--publisher-url', '--contact']
    const named = (message: string) => [...message.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag)
    const failure = (options: Partial<InitOptions>) => initIn(workspace, options).then(String, ({ message }) => message)
    expect(named(await failure({ yes: true }))).toEqual(flags)
    expect(named(await failure({}))).toEqual([...flags.slice(0, 2), '--public', '--exempt', ...flags.slice(2)])
    expect(await snapshotTree(workspace.root)).toEqual(before)
  })

  it('overwrites only with --force, and never a publisher that is real', async () => {
    const workspace = await workspaceWith({ 'usage.csv': WINDOWS })
    await writeFile(join(workspace.dataDir, 'publisher.json'), await readFile(join(REPOSITORY, 'data/publisher.json')))
    await initIn(workspace, YES)
    const publisher = await readJson(join(workspace.dataDir, 'publisher.json'))
    expect(publisher).toMatchObject({ name: publisherName, url: publisherUrl, contact })
    const before = await snapshotTree(workspace.root)
    for (const options of [YES, { yes: true }])
      await expect(initIn(workspace, options)).rejects.toThrow('sources.json and')
    await realFiles.remove(join(workspace.input, 'models.json'))
    await realFiles.remove(workspace.sources)
    await expect(initIn(workspace, YES)).rejects.toThrow(`${publisherName} is the publisher already`)
    await initIn(workspace, { yes: true })
    expect(await snapshotTree(workspace.root)).toEqual(before)
    const { files } = await initIn(workspace, { yes: true, force: true, public: ['acme/large'] })
    expect(files.map((path) => path.slice(workspace.root.length))).toEqual([
      '/input/models.json',
      '/input/sources.json',
    ])
    expect(await readJson(join(workspace.dataDir, 'publisher.json'))).toEqual(publisher)
    expect(await rowsAfterBuild(workspace)).toEqual(['2025-03-03 acme/large 1000'])
  })

  it('leaves models out that look private, asks for each, and tells how to go on without a public one', async () => {
    const log = WINDOWS.replace('acme/small', 'ft:gpt-4o:acme::x')
    const workspace = await workspaceWith({ 'usage.csv': log })
    const { shown } = await initIn(workspace, YES)
    expect(shown).toContain('looks private: a fine-tuned model')
    for (const words of ['all', 'acme/*']) {
      const given = await initIn(workspace, { ...AGAIN, public: [words] })
      expect(given.shown).toContain('private: ft:gpt-4o:acme::x: looks private: a fine-tuned model')
    }
    expect(await rowsAfterBuild(workspace)).toEqual(['2025-03-03 acme/large 1000'])
    const asOf = '2026-11-01T12:00:00Z'
    await initIn(workspace, { force: true }, { answers: ['each', 'no', 'yes', 'none', 'yes'], asOf })
    const models = await readJson(join(workspace.input, 'models.json'))
    expect(models.map((model: { public: boolean }) => model.public)).toEqual([false, true])
    const { dry_run, shown: none } = await initIn(workspace, { yes: true, force: true, public: ['none'] })
    expect(dry_run).toBeUndefined()
    expect(none).toContain('no model is public')
  })

  it('protects the customers that the records or the flags name', async () => {
    const log = WINDOWS.replaceAll(
      /^(window|2025)(.*)$/gm,
      (_, year, rest) => `${year}${rest},${year === 'window' ? 'client' : 'anna'}`,
    )
    const workspace = await workspaceWith({ 'usage.csv': log })
    const written = async () => {
      const { disclosure, blocking, sources } = await readJson(workspace.sources)
      return { disclosure, blocking, ...sources[0] }
    }
    const rule = { min_contributors: 5, p_percent: 10, publish_after_days: 3 }
    await initIn(workspace, YES)
    expect(await written()).toMatchObject({ disclosure: 'none', blocking: undefined })
    const { shown } = await initIn(workspace, { ...AGAIN, contributor: ['client'] })
    expect(shown).toContain('logs: the records name 1 customer\n')
    expect(await written()).toMatchObject({
      disclosure: rule,
      blocking: ['collapsed_day', 'silent_source'],
      columns: { contributor: 'client' },
    })
    await expect(initIn(workspace, { ...AGAIN, contributor: ['clent'] })).rejects.toThrow('is it "client"?')
    await initIn(workspace, { ...AGAIN, contributor: ['client'], disclosure: 'none' })
    expect(await written()).toMatchObject({ disclosure: 'none' })
    const own = await initIn(workspace, { ...AGAIN, exempt: ['Our own account.'] })
    expect(own.shown).toContain('logs: the usage belongs to no customer, and is not protected\n')
    expect(await written()).toMatchObject({ disclosure: rule, contributors: 'exempt', note: 'Our own account.' })
    await expect(initIn(workspace, { ...AGAIN, disclosure: 'rule' })).rejects.toThrow(
      /--exempt NOTE +No record of logs/,
    )
    const answers = ['all', 'exmpt', 'exempt', 'A test.', 'yes']
    expect((await initIn(workspace, { force: true }, { answers })).shown).toContain('"exmpt" is none of exempt, none')
    expect(await written()).toMatchObject({ disclosure: rule, note: 'A test.' })
  })

  it('publishes a log with many rejected records only if that is accepted', async () => {
    const workspace = await workspaceWith({ 'usage.csv': `${WINDOWS}soon,acme/small,1,1,1\n` })
    await expect(initIn(workspace, YES)).rejects.toThrow('--accept-rejected')
    await expect(initIn(workspace, {}, { answers: ['no'] })).rejects.toThrow('nothing was written')
    const { shown } = await initIn(workspace, { ...YES, acceptRejected: true })
    expect(shown).toMatch(/invalid_timestamp, such as .*usage\.csv, record 3: \{"window_start":"soon"/)
    expect(await rowsAfterBuild(workspace)).toHaveLength(2)
  })

  it('writes all files or none, and nothing after an interrupt', async () => {
    const workspace = await workspaceWith({ 'usage.csv': WINDOWS })
    await initIn(workspace, { ...YES, public: ['none'] })
    const before = await snapshotTree(workspace.root)
    for (const failing of [0, 1]) {
      let renames = 0
      const rename: Effects['files']['rename'] = async (from, to) => {
        if (renames++ === failing) throw new Error('no space left')
        await realFiles.rename(from, to)
      }
      const effects = { files: { ...realFiles, rename } }
      await expect(initIn(workspace, { ...YES, force: true }, { effects })).rejects.toThrow('no space left')
      expect(await snapshotTree(workspace.root)).toEqual(before)
    }
    const controller = new AbortController()
    const write: Effects['files']['write'] = async (path, content) => {
      await realFiles.write(path, content)
      controller.abort()
    }
    const effects = { signal: controller.signal, files: { ...realFiles, write } }
    await expect(initIn(workspace, { ...YES, force: true }, { effects })).rejects.toThrow('abort')
    expect(await snapshotTree(workspace.root)).toEqual(before)
  })
})

it('tokenboard init prints one JSON object, with paths relative to the sources file', async () => {
  const workspace = await workspaceWith({ '2025/usage.csv': WINDOWS, '2025/more.csv': WINDOWS })
  const { SOURCES: _, ...environment } = settings(workspace, AS_OF)
  const words = ['--publisher-name', publisherName, '--publisher-url', publisherUrl, '--contact', contact]
  const { code, stdout, stderr } = await runCli(
    ['init', 'logs', '--yes', '--json', ...words],
    environment,
    workspace.input,
  )
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    sources: [{ entry: { name: '2025', files: ['../input/logs/**/*.csv'] }, reading: { read: 4 } }],
    dry_run: { outcome: 'would_release', total_tokens: '2020' },
  })
  expect((await readJson(join(workspace.dataDir, 'sources.json'))).sources).toMatchObject([{ name: '2025' }])
})
