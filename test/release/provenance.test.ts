/** `provenance.json`: what a release was made from and with. The same on every machine, and without names. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { DUCKDB_VERSION } from '../../pipeline/base/database.ts'
import { Provenance } from '../../pipeline/contract/provenance.ts'
import { merkleRoot } from '../../pipeline/release/merkle.ts'
import {
  AS_OF,
  buildIn,
  newWorkspace,
  releaseFolder,
  sha256,
  snapshotTree,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { verifyFolder } from '../support/releases.ts'
import { replaceInRelease } from '../support/reseal.ts'

const line = (model: string) =>
  `{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"${model}","prompt_tokens":"3","completion_tokens":"0"}\n`
const [ONE, TWO] = [line('a'), line('b')]
const MODELS = '[{"model_permaslug":"a","public":true},{"model_permaslug":"b","public":true}]'

async function arrange(files: Record<string, string | Uint8Array>, aliases?: string): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  await writeInput(workspace, 'models.json', MODELS)
  if (aliases !== undefined) await writeInput(workspace, 'aliases.csv', aliases)
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    ...(aliases !== undefined && { aliases: 'aliases.csv' }),
    sources: [{ name: 'gateway', schema: 'canonical', files: ['raw*'] }],
  })
  return workspace
}

async function provenanceIn(workspace: Workspace): Promise<Provenance> {
  return Provenance.parse(JSON.parse(await readFile(join(await releaseFolder(workspace), 'provenance.json'), 'utf8')))
}

const digest = (...parts: (number | string)[]) =>
  sha256(Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part, 'hex')))))

/** The leaf of a content in the tree of RFC 6962. */
const leaf = (content: string) => digest(0, sha256(content))
const node = (left: string, right: string) => digest(1, left, right)

function inOrder(...contents: string[]): string[] {
  return contents.toSorted((a, b) => (sha256(a) < sha256(b) ? -1 : 1)).map(leaf)
}

it('commits to the columns in the path of a file', async () => {
  const workspace = await newWorkspace()
  const dayFile = (tokens: number) => `model_permaslug,prompt_tokens,completion_tokens\na,${tokens},0\n`
  await writeInput(workspace, 'models.json', MODELS)
  const source = {
    hive: true,
    name: 'gateway',
    schema: 'canonical',
    files: ['raw/**/*'],
    columns: { timestamp: 'date' },
  }
  await writeInput(workspace, 'sources.json', { models: 'models.json', sources: [source] })
  for (const day of [1, 2]) await writeInput(workspace, `raw/date=2025-03-0${day}/x.csv`, dayFile(day))
  await buildIn(workspace)
  const hashes = [1, 2].map((day) => sha256(`${sha256(dayFile(day))}{"date":"2025-03-0${day}"}`)).sort()
  expect((await provenanceIn(workspace)).inputs).toEqual({ count: 2, merkle_root: merkleRoot(hashes) })
})

describe('provenance.json', () => {
  it('lists the code, DuckDB, SQL and registry of a release, and the Merkle root of its inputs', async () => {
    const aliases = 'alias,model_permaslug\nx,a\n'
    const workspace = await arrange({ 'raw-1.ndjson': ONE, 'raw-2.ndjson': TWO }, aliases)
    const { content_hash } = await buildIn(workspace)
    expect(await provenanceIn(workspace)).toEqual({
      dataset: 'rankings-daily',
      release: '20250310T120000Z',
      as_of: AS_OF,
      schema_version: 'v1',
      content_hash,
      code: {
        name: 'tokenboard',
        version: JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8')).version,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      sql_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      duckdb: DUCKDB_VERSION,
      registry: { models_sha256: sha256(MODELS), aliases_sha256: sha256(aliases) },
      provenance_version: 2,
      inputs: { count: 2, merkle_root: node(...(inOrder(ONE, TWO) as [string, string])) },
    })
    const kept = JSON.parse(await readFile(join(workspace.dataDir, 'provenance/20250310T120000Z.json'), 'utf8'))
    expect(kept.inputs).toHaveLength(2)
    expect(kept.inputs).toContainEqual({ sha256: sha256(TWO), source: 'gateway', file: 'raw-2.ndjson' })
  })

  it('has the root of RFC 6962 for any number of inputs', () => {
    const hashes = ['a', 'b', 'c', 'd', 'e'].map((content) => sha256(content))
    const [one = '', two = '', three = '', four = '', five = ''] = hashes.toSorted().map((each) => digest(0, each))
    expect(merkleRoot([])).toBe(sha256(''))
    expect(merkleRoot([sha256(ONE)])).toBe(leaf(ONE))
    expect(merkleRoot(hashes)).toBe(node(node(node(one, two), node(three, four)), five))
    expect(merkleRoot(hashes.toReversed())).toBe(merkleRoot(hashes))
  })

  it('does not depend on the names, the order and the compression of raw files', async () => {
    const first = await arrange({ 'raw-1.ndjson': ONE, 'raw-2.ndjson': TWO })
    const second = await arrange({ 'raw-b.ndjson': TWO })
    await buildIn(first)
    await buildIn(second, '2025-03-10T11:00:00Z')
    await writeInput(second, 'raw-a.ndjson.gz', gzipSync(ONE))
    await rm(second.publicDir, { recursive: true })
    await buildIn(second, undefined, {}, { newChain: true })
    expect(await snapshotTree(await releaseFolder(second))).toEqual(await snapshotTree(await releaseFolder(first)))
  })

  it('counts equal inputs as often as they were read, and has no registry if there is none', async () => {
    const workspace = await arrange({ 'raw-1.ndjson': ONE, 'raw-2.ndjson': ONE })
    await writeInput(workspace, 'sources.json', {
      sources: [{ name: 'gateway', schema: 'canonical', files: ['raw*'], visibility: 'public' }],
    })
    await buildIn(workspace)
    expect(await provenanceIn(workspace)).toMatchObject({
      inputs: { count: 2, merkle_root: node(leaf(ONE), leaf(ONE)) },
      registry: { models_sha256: null, aliases_sha256: null },
    })
  })

  it('has the last credible date if records of later dates were rejected', async () => {
    const now = () => new Date('2025-03-10T23:59:59Z')
    const ofDate = (date: string) => ONE.replace('2025-03-02', date)
    const within = await arrange({ 'raw.ndjson': ONE + ofDate('2025-03-11') })
    await buildIn(within, AS_OF, { now })
    expect(await provenanceIn(within)).not.toHaveProperty('last_credible_date')
    const after = await arrange({ 'raw.ndjson': ONE + ofDate('2025-03-12') })
    await writeInput(after, 'sources.json', {
      models: 'models.json',
      max_rejected_share: 1,
      sources: [{ name: 'gateway', schema: 'canonical', files: ['raw*'] }],
    })
    await buildIn(after, AS_OF, { now })
    expect(await provenanceIn(after)).toMatchObject({ last_credible_date: '2025-03-11' })
    await verifyFolder(after.publicDir)
  })

  it('is verified against the manifest and the release', async () => {
    const workspace = await arrange({ 'raw-1.ndjson': ONE, 'raw-2.ndjson': TWO })
    await buildIn(workspace)
    const provenance = await provenanceIn(workspace)
    const spoiled: [Partial<Provenance>, RegExp][] = [
      [{ duckdb: 'v0.0.0' }, /provenance\.json has another duckdb than the manifest/],
      [{ as_of: '2025-03-10T13:00:00Z' }, /provenance\.json has another as_of than the manifest/],
      [
        { last_credible_date: '2025-03-11' },
        /has the last_credible_date 2025-03-11, but .* has no record that was rejected for its timestamp/,
      ],
    ]
    for (const [changes, message] of spoiled) {
      const text = `${JSON.stringify({ ...provenance, ...changes })}\n`
      await replaceInRelease(await releaseFolder(workspace), 'provenance.json', text)
      await expect(verifyFolder(workspace.publicDir)).rejects.toThrow(message)
    }
    const mixed = { ...provenance, provenance_version: 3 }
    expect(Provenance.safeParse(mixed).error?.message).toContain('must be 2 beside the root of the inputs')
  })
})
