/** Deposits at a repository that checks each request, that cuts connections, and that is asked again. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { lock } from '../../pipeline/base/lock.ts'
import { Deposits } from '../../pipeline/contract/deposits.ts'
import { type Manifest, type ReleaseIndex, releaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { INDEX_PATH } from '../../pipeline/contract/published-paths.ts'
import { type DepositOptions, type DepositSummary, deposit } from '../../pipeline/deposit/deposit.ts'
import { Repository } from '../../pipeline/deposit/repository.ts'
import { DepositState } from '../../pipeline/deposit/state.ts'
import { appendRelease, EMPTY_INDEX } from '../../pipeline/release/index.ts'
import { type Invenio, startInvenio } from '../support/invenio.ts'
import { manifestOf } from '../support/manifest.ts'
import { newWorkspace, runCli, runProcess, settings, sha256, type Workspace } from '../support/pipeline.ts'

const [FIRST, SECOND] = ['2026-11-20T00:12:00Z', '2026-11-21T00:12:00Z'] as const

interface Bench {
  invenio: Invenio
  workspace: Workspace
  index: ReleaseIndex
  events: BuildEvent[]
  pauses: number[]
}

async function newBench(): Promise<Bench> {
  const workspace = await newWorkspace()
  const bench = { invenio: await startInvenio(), workspace, index: EMPTY_INDEX, events: [], pauses: [] }
  await writeFile(join(workspace.root, 'token'), `${bench.invenio.token}\n`)
  await release(bench, FIRST)
  return bench
}

/** Publishes a release of a few small files, as far as a deposit reads one. */
async function release(bench: Bench, as_of: string, changes: Partial<Manifest> = {}): Promise<string> {
  const name = releaseName(as_of)
  const data_version = `1.${bench.index.releases.length}.0`
  const manifest = manifestOf({ release: name, as_of, data_version, ...changes })
  const files = { 'rankings-daily.csv': `rows as of ${as_of}\n`, 'a b.txt': '', 'manifest.json': toJson(manifest) }
  const folder = join(bench.workspace.publicDir, releasePath(name))
  await mkdir(folder, { recursive: true })
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text)
  const sums = Object.entries(files)
    .sort()
    .map(([path, text]) => `${sha256(text)}  ${path}\n`)
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''))
  await writeIndex(bench, appendRelease(bench.index, manifest, sha256(files['manifest.json'])))
  return name
}

async function writeIndex(bench: Bench, index: ReleaseIndex): Promise<void> {
  bench.index = index
  await writeFile(join(bench.workspace.publicDir, INDEX_PATH), toJson(index))
}

async function run(
  { invenio, workspace, events, pauses }: Bench,
  options: DepositOptions = {},
  { signal = new AbortController().signal, files = realFiles }: { signal?: AbortSignal; files?: Files } = {},
  onPause = () => {},
): Promise<DepositSummary> {
  const { dataDir, publicDir, root } = workspace
  const effects = { now: () => new Date(), report: (event: BuildEvent) => void events.push(event), signal, files }
  const given = { repository: invenio.url, tokenFile: join(root, 'token'), ...options }
  return deposit({ dataDir, publicDir }, effects, given, async (ms) => {
    pauses.push(ms)
    onPause()
    signal.throwIfAborted()
  })
}

async function noted({ workspace }: Bench): Promise<Deposits> {
  return Deposits.parse(JSON.parse(await readFile(join(workspace.dataDir, 'deposits-trial.json'), 'utf8')))
}

/** Each release has one record with all its files, in one chain of versions, and nothing else was made. */
async function expectDeposited(bench: Bench, releases: readonly string[]): Promise<void> {
  const records = [...bench.invenio.records.values()]
  expect(records.map(({ is_published, metadata }) => [is_published, metadata.version])).toEqual(
    releases.map((_, position) => [true, `1.${position}.0`]),
  )
  expect(new Set(records.map(({ parent }) => parent)).size).toBe(1)
  const deposits = await noted(bench)
  for (const [position, name] of releases.entries()) {
    const { id, doi, files } = records[position] ?? { files: new Map() }
    expect(deposits.releases[name]).toEqual({ id, state: 'published', doi, url: `${bench.invenio.url}/records/${id}` })
    expect([...files.keys()].sort()).toEqual(['SHA256SUMS', 'a b.txt', 'manifest.json', 'rankings-daily.csv'])
    const folder = join(bench.workspace.publicDir, releasePath(name))
    for (const [key, { content }] of files) expect(content).toEqual(await readFile(join(folder, key)))
  }
  expect(deposits).toMatchObject({ repository: bench.invenio.url, concept_doi: '10.5072/test.all-1' })
}

it('deposits a release, and the next one as a new version under the same concept DOI', async () => {
  const bench = await newBench()
  const summary = await run(bench)
  expect(summary).toMatchObject({ outcome: 'published', doi: '10.5072/test.rec-1', concept_doi: '10.5072/test.all-1' })
  await expectDeposited(bench, ['20261120T001200Z'])
  const { metadata } = bench.invenio.records.get('rec-1') ?? {}
  expect(metadata).toMatchInlineSnapshot(`
    {
      "additional_descriptions": [
        {
          "description": "<p>Raw usage logs are read whole; broken records are rejected and counted, repeated ones counted once; prompt and completion tokens are summed by UTC date and model; the 50 models of a date with the most tokens are named, all others are summed in <code>other</code>. Weeks and months are ranked in the same way, by their own sums.</p>",
          "type": {
            "id": "methods",
          },
        },
      ],
      "creators": [
        {
          "person_or_org": {
            "name": "Acme Gateway",
            "type": "organizational",
          },
        },
      ],
      "dates": [
        {
          "date": "2025-01-01/2026-11-19",
          "description": "The days of the rows",
          "type": {
            "id": "collected",
          },
        },
      ],
      "description": "<p>Tokens per language model and UTC day on the gateway of Acme. One row per UTC date and model, 2025-01-01 to 2026-11-19, as of 2026-11-20T00:12:00Z.</p><p>Source: Acme Gateway (https://data.acme.example), as of 2026-11-20T00:12:00Z.</p>",
      "identifiers": [
        {
          "identifier": "https://data.acme.example/datasets/rankings-daily/v1/releases/20261120T001200Z/",
          "scheme": "url",
        },
      ],
      "languages": [
        {
          "id": "eng",
        },
      ],
      "publication_date": "2026-11-20",
      "publisher": "Acme Gateway",
      "related_identifiers": [
        {
          "identifier": "https://data.acme.example/datasets/rankings-daily/v1/releases/20261120T001200Z/",
          "relation_type": {
            "id": "isidenticalto",
          },
          "resource_type": {
            "id": "dataset",
          },
          "scheme": "url",
        },
        {
          "identifier": "https://data.acme.example/",
          "relation_type": {
            "id": "isdocumentedby",
          },
          "scheme": "url",
        },
      ],
      "resource_type": {
        "id": "dataset",
      },
      "rights": [
        {
          "id": "cc-by-4.0",
        },
      ],
      "subjects": [
        {
          "subject": "large language models",
        },
        {
          "subject": "LLM",
        },
        {
          "subject": "AI",
        },
        {
          "subject": "token usage",
        },
        {
          "subject": "market share",
        },
        {
          "subject": "ranking",
        },
        {
          "subject": "time series",
        },
      ],
      "title": "Tokens per model",
      "version": "1.0.0",
    }
  `)

  const second = await release(bench, SECOND)
  await run(bench)
  await expectDeposited(bench, ['20261120T001200Z', second])
  expect(bench.invenio.requests).toContain('POST /api/records/rec-1/versions')

  bench.invenio.requests.length = 0
  expect(await run(bench)).toMatchObject({ outcome: 'unchanged', doi: '10.5072/test.rec-2' })
  expect(bench.invenio.requests).toEqual([])
})

describe.each(['before', 'after', 'stop', 'unwritten'] as const)('cut %s each step', (cut) => {
  /** Deposits the current release, but for one cut, and again until it is done. Returns false if nothing was cut. */
  async function depositWithCut(bench: Bench, at: number): Promise<boolean> {
    const { invenio } = bench
    const start = invenio.requests.length
    let writes = 0
    if (cut === 'before' || cut === 'after') {
      invenio.faults.set(start + at, cut)
      bench.pauses.length = 0
      await run(bench)
      return bench.pauses.length > 0
    }
    if (cut === 'stop') {
      const controller = new AbortController()
      invenio.onAnswer = () => invenio.requests.length > start + at && controller.abort()
      await run(bench, {}, controller).catch((error) => expect(error.message).toMatch(/^stopped; to go on: make/))
      invenio.onAnswer = undefined
      await run(bench)
      return controller.signal.aborted
    }
    // The answer arrived, and the file could not be written: as if the machine had lost its power.
    const write: Files['write'] = async (path, ...rest) => {
      if (path.includes('deposits-trial') && writes++ === at) throw new Error('no power')
      await realFiles.write(path, ...rest)
    }
    await run(bench, {}, { files: { ...realFiles, write } }).catch((error) => expect(error.message).toBe('no power'))
    await run(bench)
    return writes > at
  }

  const fewest = cut === 'unwritten' ? 3 : 14

  it('makes one record of a first release', async () => {
    for (let at = 0, isCut = true; isCut; at++) {
      const bench = await newBench()
      isCut = await depositWithCut(bench, at)
      await expectDeposited(bench, ['20261120T001200Z'])
      if (!isCut) expect(at).toBeGreaterThanOrEqual(fewest)
    }
  })

  it('makes one new version of each later release', async () => {
    const bench = await newBench()
    await run(bench)
    const names = ['20261120T001200Z']
    for (let at = 0, isCut = true; isCut; at++) {
      names.push(await release(bench, new Date(Date.parse(SECOND) + at * 1000).toISOString().replace('.000', '')))
      isCut = await depositWithCut(bench, at)
      if (!isCut) expect(at).toBeGreaterThanOrEqual(fewest)
    }
    await expectDeposited(bench, names)
  })
})

it('waits as long as the repository says, and gives up when it stays away', async () => {
  const bench = await newBench()
  const { faults, requests } = bench.invenio
  faults.set(1, { status: 429, headers: { 'Retry-After': '37' } })
  faults.set(4, { status: 503 })
  await run(bench)
  expect(bench.pauses).toEqual([37_000, 1000])
  await expectDeposited(bench, ['20261120T001200Z'])

  await release(bench, SECOND)
  bench.pauses.length = 0
  for (let at = 0; at < 5; at++) faults.set(requests.length + at, { status: 502 })
  await expect(run(bench)).rejects.toThrow(
    /^GET .*\/api\/user\/records was answered with 502; to go on: make deposit ARGS="20261121T001200Z --rep/,
  )
  expect(bench.pauses).toEqual([1000, 4000, 16_000, 60_000])
  faults.clear()
  faults.set(requests.length, { status: 429, headers: { 'Retry-After': '3600' } })
  await expect(run(bench)).rejects.toThrow('answered with 429; to go on: make deposit')
  faults.set(requests.length, { status: 500 })
  const controller = new AbortController()
  await expect(run(bench, {}, controller, () => controller.abort())).rejects.toThrow('stopped; to go on: make deposit')
})

it('explains what the repository refuses, and never tells the token', async () => {
  const bench = await newBench()
  const { workspace, invenio } = bench
  const other = join(workspace.root, 'other')
  await writeFile(other, 'another-secret\n')
  const env = { ...settings(workspace, FIRST), DEPOSIT_TOKEN_FILE: other }
  const refused = await runCli(['deposit', '--repository', invenio.url, '--json'], env)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('answered with 403: Permission denied for Bearer ….\n')
  expect(refused.stderr).not.toContain('another-secret')

  await rm(join(workspace.publicDir), { recursive: true })
  bench.index = EMPTY_INDEX
  const publisher = { ...manifestOf().publisher, title: 'To' }
  await release(bench, FIRST, { publisher })
  const wrong = 'does not accept the metadata of 20261120T001200Z:\n  metadata.title: Too small'
  await expect(run(bench)).rejects.toThrow(wrong)
  await expect(run(bench)).rejects.toThrow(wrong)
  expect([...invenio.records.keys()]).toEqual(['rec-1'])

  const draft = await new Repository(invenio.url, invenio.token, new AbortController().signal).draft('rec-1')
  const body = { ...draft, errors: [{ field: 'metadata.title', messages: [`Sent with ${invenio.token}`] }] }
  invenio.faults.set(invenio.requests.length + 1, { status: 200, body })
  await expect(run(bench)).rejects.toThrow('metadata.title: Sent with …')
})

it('waits for the index of the search before it makes a draft again', async () => {
  const bench = await newBench()
  const { faults, requests, records } = bench.invenio
  faults.set(1, 'after')
  await run(bench, { publish: false })
  expect(bench.pauses).toEqual([10_000])
  expect(requests.slice(0, 3).map((request) => request.split('?')[0])).toEqual([
    'GET /api/user/records',
    'POST /api/records',
    'GET /api/user/records',
  ])
  expect([...records.keys()]).toEqual(['rec-1'])
})

it('reads past unfinished drafts of the web form, and takes an empty DOI as none', async () => {
  const bench = await newBench()
  const { url, token, faults, requests } = bench.invenio
  await run(bench, { publish: false })
  const draft = await new Repository(url, token, new AbortController().signal).draft('rec-1')
  await rm(join(bench.workspace.dataDir, 'deposits-trial.json'))
  const empty = { doi: { identifier: '', provider: 'external' } }
  const form = { ...draft, id: 'form', pids: empty, metadata: {} }
  const hits = [{ id: 'form', is_published: false }, form, draft]
  faults.set(requests.length, { status: 200, body: { hits: { hits } } })
  expect(await run(bench)).toMatchObject({ outcome: 'published', doi: '10.5072/test.rec-1' })

  faults.set(requests.length, { status: 200, body: { ...draft, pids: empty } })
  const read = await new Repository(url, token, new AbortController().signal).draft('form')
  expect(read?.pids.doi).toBeUndefined()
})

it('does not try again what cannot be sent', async () => {
  const repository = new Repository('http://:pw@127.0.0.1:9', 'token', new AbortController().signal)
  await expect(repository.draft('rec-1')).rejects.toThrow('cannot be sent')
  const bench = await newBench()
  const given = { repository: 'https://:pw@invenio.example' }
  await expect(run(bench, given)).rejects.toThrow('--repository has more than a host and a path')
})

it('names the repository in a command unless deposits.json does', async () => {
  const { workspace } = await newBench()
  const commandAt = async (repository: string, publish = true) =>
    (await DepositState.read(workspace.dataDir, repository, realFiles)).commandFor('20261120T001200Z', { publish })
  const full = (repository: string) => `make deposit ARGS="20261120T001200Z --repository ${repository}"`
  const [real, sandbox] = ['https://invenio.example', 'https://sandbox.zenodo.org'] as const
  expect(await commandAt(real)).toBe(full(real))
  for (const [name, repository] of [
    ['deposits.json', real],
    ['deposits-trial.json', sandbox],
  ] as const) {
    const deposit = { id: '1', state: 'draft', doi: null, url: `${repository}/uploads/1` }
    const deposits = { repository, concept_id: '2', concept_doi: null, releases: { '20261120T001200Z': deposit } }
    await writeFile(join(workspace.dataDir, name), toJson(deposits))
  }
  expect(await commandAt(real)).toBe('make deposit ARGS="20261120T001200Z"')
  expect(await commandAt(real, false)).toBe('make deposit ARGS="20261120T001200Z --draft"')
  expect(await commandAt(sandbox)).toBe(full(sandbox))
})

it('leaves a draft for a look, and publishes what a person changed in it', async () => {
  const bench = await newBench()
  const next = `make deposit ARGS="20261120T001200Z --repository ${bench.invenio.url}"`
  const drafted = { outcome: 'drafted', doi: '10.5072/test.rec-1', next }
  expect(await run(bench, { publish: false })).toMatchObject(drafted)
  const record = bench.invenio.records.get('rec-1')
  if (record === undefined) throw new Error('there is no draft')
  expect(record.is_published).toBe(false)
  Object.assign(record.metadata, { title: 'A better title' })
  record.files.set('a b.txt', { content: Buffer.from('damaged'), isComplete: true })
  const second = await release(bench, SECOND)
  await expect(run(bench)).rejects.toThrow(`20261120T001200Z is not finished: finish it with ${next}`)
  await run(bench, { release: '20261120T001200Z' })
  expect(record).toMatchObject({ is_published: true, metadata: { title: 'A better title' } })
  await run(bench)
  await expectDeposited(bench, ['20261120T001200Z', second])
})

it('makes a new draft if a person has discarded the first, and refuses files of others', async () => {
  const bench = await newBench()
  await run(bench, { publish: false })
  bench.invenio.records.delete('rec-1')
  await run(bench, { publish: false })
  const [record] = bench.invenio.records.values()
  record?.files.set('notes.txt', { content: Buffer.from('x'), isComplete: true })
  await expect(run(bench)).rejects.toThrow('has a file that is not of the release, notes.txt; remove it there')
})

it('finds the record again by its page when deposits.json is lost', async () => {
  const bench = await newBench()
  const { doi } = await run(bench, { publish: false })
  for (const found of ['draft', 'record']) {
    await rm(join(bench.workspace.dataDir, 'deposits-trial.json'))
    expect(await run(bench), found).toMatchObject({ outcome: 'published', doi })
  }
  await expectDeposited(bench, ['20261120T001200Z'])
})

it('names the command that deposits already, and how to wait for it', async () => {
  const { workspace, invenio } = await newBench()
  await mkdir(join(workspace.dataDir, 'state'))
  const held = await lock(join(workspace.dataDir, 'state/deposit.lock'))
  const { code, stderr } = await runProcess(['deposit', '--repository', invenio.url], settings(workspace, FIRST))
  await held.release()
  expect([code, invenio.requests]).toEqual([1, []])
  expect(stderr).toContain(`another command (process ${process.pid}) is running`)
  expect(stderr).toContain('or wait for it with --wait 10m')
})

it('says in a dry run what would be sent, without token and network', async () => {
  const bench = await newBench()
  const { workspace, invenio } = bench
  const env = settings(workspace, FIRST)
  const { code, stdout, stderr } = await runCli(['deposit', '--dry-run', '--json'], env)
  expect([code, invenio.requests]).toEqual([0, []])
  const summary = JSON.parse(stdout)
  expect(summary).toMatchObject({ outcome: 'would_deposit', repository: 'https://zenodo.org', trial: false })
  expect(stderr).toContain('POST https://zenodo.org/api/records\n{\n  "access"')
  // What is sent is what was said.
  const planned = (await run(bench, { dryRun: true })).requests ?? []
  await run(bench)
  const changing = invenio.requests.filter((request) => !request.startsWith('GET'))
  expect(planned.map(({ method, url }) => `${method} ${url.slice(invenio.url.length)}`)).toEqual(
    changing.map((request) => request.replace('rec-1', '{id}')),
  )
  expect(planned[0]?.body).toMatchObject({ metadata: invenio.records.get('rec-1')?.metadata })
})

it('refuses releases that cannot be deposited', async () => {
  const bench = await newBench()
  const name = '20261120T001200Z'
  const folder = join(bench.workspace.publicDir, releasePath(name))
  const real = { repository: 'https://invenio.example', tokenFile: '/dev/null' }
  await expect(run(bench, { ...real, release: '20261119T001200Z' })).rejects.toThrow('there is no release 2026')
  await expect(run(bench, real)).rejects.toThrow('must have the token alone')
  await expect(run(bench, { repository: 'http://zenodo.org' })).rejects.toThrow('has no https://')
  const given = bench.index
  const changed = (changes: object) => ({ ...given, releases: given.releases.map((each) => ({ ...each, ...changes })) })
  await writeIndex(bench, changed({ dropped: true }))
  await expect(run(bench)).rejects.toThrow('were dropped')
  const withdrawal = { withdrawn_at: SECOND, reason: 'It was wrong.' }
  await writeIndex(bench, changed({ status: 'withdrawn', withdrawal }))
  await expect(run(bench, { release: name })).rejects.toThrow('was withdrawn')
  await writeIndex(bench, given)
  await writeFile(join(folder, 'rankings-daily.csv'), 'other rows\n')
  await expect(run(bench)).rejects.toThrow('does not have the checksum')
  expect(bench.invenio.requests).toEqual([])
  bench.index = EMPTY_INDEX
  await release(bench, SECOND, { synthetic: true })
  await expect(run(bench, real)).rejects.toThrow('is the synthetic sample')
  await run(bench)
  await release(bench, FIRST)
  await expect(run(bench)).rejects.toThrow('repository only appends versions')
  await writeFile(join(bench.workspace.dataDir, 'deposits.json'), '{"repository": "zenodo"}')
  const wrong = await runCli(['deposit'], settings(bench.workspace, FIRST))
  expect(wrong).toMatchObject({ code: 2 })
  expect(wrong.stderr).toContain('deposits.json:1: repository: must be the address of an')
})
