/** `tokenboard reproduce`: a release made again from its inputs has equal bytes, or differences are explained. */
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Effects } from '../../pipeline/base/effects.ts'
import { explain } from '../../pipeline/commands/reproduce.ts'
import { Provenance } from '../../pipeline/contract/provenance.ts'
import { compareProvenance } from '../../pipeline/release/provenance-differences.ts'
import { type Reproduction, reproduce } from '../../pipeline/reproduce.ts'
import {
  archiveIn,
  buildIn,
  copyWorkspace,
  createWorkspace,
  datasetFolder,
  effectsWith,
  newWorkspace,
  removeWorkspace,
  runCli,
  settings,
  sha256,
  snapshotTree,
  type Workspace,
  withdrawIn,
  writeInput,
} from '../support/pipeline.ts'

const [FIRST, SECOND] = ['20250310T100000Z', '20250310T110000Z']
const [AS_OF_FIRST, AS_OF_SECOND] = ['2025-03-10T10:00:00Z', '2025-03-10T11:00:00Z']
const SOURCE = { name: 'gateway', schema: 'canonical', files: ['raw/*'] }
const MODELS = '[{"model_permaslug":"a","public":true},{"model_permaslug":"b","public":true}]'

function lines(date: string, model: string, tokens: number, count = 3): string {
  const record = { timestamp: `${date}T23:30:00`, model_permaslug: model, prompt_tokens: `${tokens}` }
  return Array.from({ length: count }, (_, id) =>
    JSON.stringify({ ...record, completion_tokens: '0', request_id: `${date}-${model}-${id}` }),
  )
    .map((line) => `${line}\n`)
    .join('')
}

const EARLY = lines('2025-02-28', 'a', 5)
const LATE = lines('2025-03-02', 'b', 7)
const LATER = lines('2025-03-02', 'a', 9)

/** Two releases. The second restates a final date for a late log. */
async function publishTwice(workspace: Workspace, sources: Record<string, unknown> = {}): Promise<void> {
  await writeInput(workspace, 'models.json', MODELS)
  await writeInput(workspace, 'sources.json', { models: 'models.json', sources: [SOURCE], ...sources })
  await writeInput(workspace, 'raw/1.ndjson', EARLY)
  await writeInput(workspace, 'raw/2.ndjson', LATE)
  await buildIn(workspace, AS_OF_FIRST)
  await writeInput(workspace, 'raw/3.ndjson', LATER)
  await buildIn(workspace, AS_OF_SECOND, {}, { reason: 'late_data', note: 'A log came late.' })
}

let original: Workspace

beforeAll(async () => {
  original = await createWorkspace()
  await publishTwice(original)
})

afterAll(() => removeWorkspace(original))

/** A copy of `original` for one test. */
const published = () => copyWorkspace(original)

/** AS_OF of the settings is ignored. */
function makeAgain(
  workspace: Workspace,
  release?: string,
  report: Effects['report'] = () => {},
): Promise<Reproduction> {
  return reproduce(readPipelineConfig(settings(workspace, '2026-01-01T00:00:00Z')), effectsWith({ report }), release)
}

async function archiveBefore(workspace: Workspace, before: string): Promise<void> {
  const { outcome } = await archiveIn(workspace, before, AS_OF_SECOND)
  expect(outcome).toBe('archived')
}

function others({ files }: Reproduction): string[] {
  return files.filter(({ comparison }) => comparison !== 'equal').map(({ path }) => path)
}

describe('reproduce', () => {
  it('reproduces the current release and a previous one, byte for byte, and changes nothing', async () => {
    const workspace = await published()
    const before = await snapshotTree(workspace.root)
    for (const release of [undefined, FIRST]) {
      const { files, ...rest } = await makeAgain(workspace, release)
      expect(rest).toEqual({
        release: release ?? SECOND,
        equal: true,
        dates: [],
        provenance: { tools: [], gone: [], other: [] },
        left_out: release === FIRST ? ['raw/3.ndjson'] : [],
      })
      expect(files).toContainEqual({ path: 'SHA256SUMS', comparison: 'equal' })
      expect(files).toHaveLength(32)
    }
    const { code, stdout, stderr } = await runCli(['reproduce', '--json'], settings(workspace, ''))
    expect(code).toBe(0)
    expect(stderr).toContain(`reproduced ${SECOND}: all 32 files have the bytes that were published`)
    expect(JSON.parse(stdout)).toMatchObject({ release: SECOND, equal: true, dates: [], left_out: [] })
    expect(await snapshotTree(workspace.root)).toEqual(before)
  })

  it('rejects records of later dates as the release did, even after these dates', async () => {
    const workspace = await newWorkspace()
    await writeInput(workspace, 'models.json', MODELS)
    const sources = { models: 'models.json', max_rejected_share: 1, sources: [SOURCE] }
    await writeInput(workspace, 'sources.json', sources)
    await writeInput(workspace, 'raw/1.ndjson', EARLY + lines('2025-03-13', 'a', 1, 1))
    await buildIn(workspace, AS_OF_FIRST, { now: () => new Date(AS_OF_FIRST) })
    const config = readPipelineConfig(settings(workspace, ''))
    for (const now of [AS_OF_FIRST, '2025-03-15T10:00:00Z']) {
      const reproduction = await reproduce(config, effectsWith({ now: () => new Date(now) }))
      expect({ now, equal: reproduction.equal, others: others(reproduction) }).toEqual({ now, equal: true, others: [] })
    }
  })

  it('finds inputs by their content, and leaves out copies and new files, also one that is cut', async () => {
    const workspace = await published()
    await rename(join(workspace.input, 'raw/1.ndjson'), join(workspace.input, 'raw/z.ndjson'))
    await rm(join(workspace.input, 'raw/2.ndjson'))
    await writeInput(workspace, 'raw/0.ndjson.gz', gzipSync(LATE))
    await writeInput(workspace, 'raw/zz.ndjson', EARLY)
    await writeInput(workspace, 'raw/cut.ndjson.gz', gzipSync(LATE).subarray(0, 30))
    await rm(join(workspace.dataDir, 'state'), { recursive: true })
    expect(await makeAgain(workspace)).toMatchObject({ equal: true, left_out: ['raw/cut.ndjson.gz', 'raw/zz.ndjson'] })
  })

  it('reads archived dates, and lists inputs of the archive that the release did not have', async () => {
    const workspace = await published()
    await archiveBefore(workspace, '2025-03-01')
    await rm(join(workspace.input, 'raw/1.ndjson'))
    expect(await makeAgain(workspace)).toMatchObject({ equal: true })
    await archiveBefore(workspace, '2025-03-03')
    expect(await makeAgain(workspace, FIRST)).toMatchObject({
      equal: false,
      dates: [{ date: '2025-03-02', change: 'changed' }],
      provenance: { tools: [], gone: [], other: [{ sha256: sha256(LATER) }] },
    })
  })

  it('reads what `on_missing: keep` kept of missing files', async () => {
    const workspace = await newWorkspace()
    await publishTwice(workspace, { on_missing: 'keep' })
    await rm(join(workspace.input, 'raw/1.ndjson'))
    await buildIn(workspace, '2025-03-10T12:00:00Z')
    expect(await makeAgain(workspace)).toMatchObject({ equal: true })
  })

  it('explains which inputs are missing by the names that only the publisher keeps', async () => {
    const workspace = await published()
    await rm(join(workspace.input, 'raw/2.ndjson'))
    const notices: string[] = []
    const reproduction = await makeAgain(workspace, FIRST, (event) => {
      if (event.kind === 'notice') notices.push(event.message)
    })
    const ordinal = [sha256(EARLY), sha256(LATE)].sort().indexOf(sha256(LATE)) + 1
    expect(reproduction).toMatchObject({
      equal: false,
      dates: [{ date: '2025-03-02', change: 'removed' }],
      provenance: {
        tools: [],
        gone: [{ ordinal, sha256: sha256(LATE), source: 'gateway', file: 'raw/2.ndjson' }],
        other: [],
      },
    })
    expect(others(reproduction)).toContain('provenance.json')
    expect(notices.join()).toContain('1 of 2 inputs of the release are no files of the sources now')
    expect(explain(reproduction)).toContain('dates with other rows: 2025-03-02\n')
    expect(explain(reproduction)).toContain(`raw/2.ndjson (SHA-256 ${sha256(LATE).slice(0, 12)}…)`)
  })

  it('reads all raw files without the list of inputs, and refuses one that has another Merkle root', async () => {
    const workspace = await published()
    const path = join(workspace.dataDir, 'provenance', `${FIRST}.json`)
    const list = await readFile(path, 'utf8')
    await writeFile(path, list.replace(sha256(LATE), sha256(LATER)))
    await expect(makeAgain(workspace, FIRST)).rejects.toThrow(
      `${FIRST}.json does not have the inputs of provenance.json; restore it from a backup`,
    )
    await rm(path)
    expect(await makeAgain(workspace, FIRST)).toMatchObject({
      equal: false,
      provenance: { tools: ['the inputs are others than those of the release, and it is not known which'] },
    })
    await rm(join(workspace.input, 'raw/3.ndjson'))
    expect(await makeAgain(workspace, FIRST)).toMatchObject({ equal: true })
  })

  it('names what else is not as it was: settings of the sources, the registry, replaced inputs', async () => {
    const workspace = await published()
    const sources = [{ ...SOURCE, timezone: 'America/New_York' }]
    await writeInput(workspace, 'sources.json', { models: 'models.json', sources })
    const { code, stderr } = await runCli(['reproduce'], settings(workspace, ''))
    expect(code).toBe(1)
    expect(stderr).toContain(
      'nothing that provenance.json names is the reason; what the sources file says of the files',
    )
    await writeInput(workspace, 'models.json', MODELS.replace('"b","public":true', '"b","public":false'))
    await appendFile(join(workspace.input, 'raw/2.ndjson'), lines('2025-03-02', 'b', 1, 5))
    expect(await makeAgain(workspace)).toMatchObject({
      equal: false,
      provenance: {
        tools: [expect.stringMatching(/^the file of models was [0-9a-f]{12} and is [0-9a-f]{12}$/)],
        gone: [{ sha256: sha256(LATE) }],
      },
      left_out: ['raw/2.ndjson'],
    })
  })

  it('refuses a damaged release, one that is not in the index, and one of real logs without SOURCES', async () => {
    const workspace = await published()
    await expect(makeAgain(workspace, '20250101T000000Z')).rejects.toThrow(
      expect.objectContaining({ name: 'CliError', message: expect.stringMatching(/there is no release 20250101/) }),
    )
    await appendFile(join(datasetFolder(workspace), 'releases', FIRST, 'changes.csv'), '\n')
    await expect(makeAgain(workspace, FIRST)).rejects.toThrow(/changes\.csv does not have the checksum/)
    const { SOURCES: _, ...environment } = settings(workspace, '')
    const { code, stderr } = await runCli(['reproduce'], environment)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/name the sources file .* as SOURCES/)])
  })

  it('reproduces a release whose previous one was withdrawn, except its changes, but not that one', async () => {
    const workspace = await published()
    const environment = settings(workspace, '2025-03-10T12:00:00Z')
    await withdrawIn(workspace, FIRST, '2025-03-10T12:00:00Z')
    const { code, stderr } = await runCli(['reproduce', SECOND], environment)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(
        'the previous release was withdrawn: its changes are taken as published and are not verified',
      ),
    })
    const refused = await runCli(['reproduce', FIRST], environment)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`${FIRST} was withdrawn: nothing is left`),
    ])
    await rm(join(workspace.input, 'raw/3.ndjson'))
    const reproduction = await makeAgain(workspace, SECOND)
    expect(reproduction).toMatchObject({ equal: false, dates: [{ date: '2025-03-02', change: 'changed' }] })
    expect(others(reproduction)).toContain('rankings-daily.csv')
  })
})

const FILE = { source: 's', file: 'a.csv' }

it('lists each tool that differs, and inputs as often as they differ', async () => {
  const workspace = await published()
  const path = join(datasetFolder(workspace), 'releases', SECOND, 'provenance.json')
  const provenance = Provenance.parse(JSON.parse(await readFile(path, 'utf8')))
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)]
  const numbered = (hashes: string[]) =>
    hashes.map((hash, position) => ({ ordinal: position + 1, sha256: hash, ...FILE }))
  const after = {
    ...provenance,
    code: { ...provenance.code, version: '9.9.9', sha256: one },
    sql_sha256: one,
    duckdb: 'v9.9.9',
    registry: { models_sha256: one, aliases_sha256: one },
  }
  const inputs = { first: numbered([one, one, two]), second: numbered([one, two, two]) }
  expect(compareProvenance(provenance, after, inputs)).toEqual({
    tools: [
      `the version of Tokenboard was ${provenance.code.version} and is 9.9.9`,
      expect.stringMatching(/^the code of the pipeline was [0-9a-f]{12} and is 1{12}$/),
      expect.stringMatching(/^the SQL of the pipeline was [0-9a-f]{12} and is 1{12}$/),
      `DuckDB was ${provenance.duckdb} and is v9.9.9`,
      expect.stringMatching(/^the file of models was [0-9a-f]{12} and is 1{12}$/),
      'the file of aliases was none and is 111111111111',
    ],
    gone: [{ ordinal: 2, sha256: one, ...FILE }],
    other: [{ ordinal: 3, sha256: two, ...FILE }],
  })
  const same = { first: inputs.first, second: inputs.first }
  expect(compareProvenance(provenance, provenance, same)).toEqual({ tools: [], gone: [], other: [] })
})

it('reads the file that an input was, although others of the same bytes have come since', async () => {
  const workspace = await newWorkspace()
  const source = { ...SOURCE, hive: true, columns: { timestamp: 'date' } }
  const closed = { ...source, name: 'closed', files: ['closed/*/*'], visibility: 'private' }
  const open = { ...source, name: 'open', files: ['open/*/*'], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { sources: [closed, open] })
  const day = 'model_permaslug,prompt_tokens,completion_tokens\na,10,0\n'
  for (const name of ['open/date=2025-03-02', 'open/date=2025-03-03']) await writeInput(workspace, `${name}/x.csv`, day)
  await buildIn(workspace, AS_OF_FIRST)
  for (const name of ['open/date=2025-03-01', 'closed/date=2025-03-02'])
    await writeInput(workspace, `${name}/x.csv`, day)
  expect(await makeAgain(workspace)).toMatchObject({ equal: true })
})
