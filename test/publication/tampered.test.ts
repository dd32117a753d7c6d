/**
 * One thing is changed in a published folder, and `verify` names that file: in a history of four releases with late data
 * and a restatement, and in the same after one of them was withdrawn.
 */
import { cp, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildHistory } from '../golden/history.ts'
import { createWorkspace, removeWorkspace, type Workspace } from '../support/pipeline.ts'
import { verifyFolder } from '../support/releases.ts'

const DATASET = 'datasets/rankings-daily/v1'
const [R1, R2, R3, R4] = ['20250306T001500Z', '20250307T001500Z', '20250311T001500Z', '20250312T001500Z']

/** What is done to a file, given its bytes; undefined removes it. */
type Tampering = (bytes: Buffer) => Buffer | string | undefined

const flip: Tampering = (bytes) => {
  const copy = Buffer.from(bytes)
  const middle = copy.length >> 1
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle)
  return copy
}
const cut: Tampering = (bytes) => bytes.subarray(0, -1)
const space: Tampering = (bytes) => `${bytes} `
const remove: Tampering = () => undefined
const create: Tampering = () => 'stray\n'
const another: Tampering = (bytes) => bytes.toString().replace(/\}\n$/, ',"promise":"more"}\n')

function say(text: string | RegExp, other: string): Tampering {
  return (bytes) => {
    const before = bytes.toString()
    const after = before.replace(text, other)
    if (after === before) throw new Error(`there is no ${text}`)
    return after
  }
}

const link =
  (target: string): Tampering =>
  (bytes) =>
    `-> ${target}${bytes.subarray(0, 0)}`

/** What is tampered with, how, and what is named where that is another path. Paths are below the dataset, or with a /. */
type Case = [path: string, how: string, tampering: Tampering, named?: string]

const WHOLE: Case[] = [
  // Releases.
  [`releases/${R1}/rankings-daily.parquet`, 'one bit', flip],
  [`releases/${R1}/rankings-daily.csv`, 'one bit', flip],
  [`releases/${R2}/rankings-daily.ndjson.gz`, 'cut', cut],
  [`releases/${R2}/quality.json`, 'missing', remove],
  [`releases/${R3}/changes-weekly.csv`, 'one bit', flip],
  [`releases/${R3}/SHA256SUMS`, 'missing', remove],
  [`releases/${R3}/manifest.json`, 'a space', space],
  [`releases/${R4}/index.html`, 'a space', space],
  [`releases/${R4}/extra.csv`, 'a stray', create],
  ['releases/20250313T001500Z/manifest.json', 'a stray', create, 'releases/20250313T001500Z'],
  // Days and months.
  ['daily/2025-03-02/r1.json', 'one bit', flip],
  ['daily/2025-03-02/r2.json', 'other tokens', say(/"total_tokens":"\d+"/, '"total_tokens":"1"')],
  ['daily/2025-03-02/r1.json', 'another release', say('2025-03-06T00:15', '2025-03-07T00:15')],
  ['daily/2025-03-02/r2.json', 'a space', space],
  ['daily/2025-03-05/r1.json', 'cut', cut],
  ['daily/2025-03-05/r2.json', 'missing', remove],
  ['daily/2025-03-05/r3.json', 'a stray', create],
  ['daily/2025-03-05.json', 'one bit', flip],
  ['daily/2025-03-05.json', 'missing', remove],
  ['daily/2025-03-09.json', 'a stray', create],
  ['monthly/2025-03/r1.csv', 'one bit', flip],
  ['monthly/2025-03/r4.parquet', 'cut', cut],
  ['monthly/2025-03.csv', 'one bit', flip],
  ['monthly/2025-02/r1.csv', 'a stray', create],
  // What is told of them.
  ['coverage.json', 'missing', remove],
  ['coverage.json', 'another status', say('"provisional"', '"final"')],
  ['coverage.json', 'another revision', say('"revision": 2', '"revision": 1')],
  ['coverage.json', 'another release', say(`"release": "${R4}"`, `"release": "${R3}"`)],
  ['coverage.json', 'other tokens', say(/"total_tokens": "\d+"/, '"total_tokens": "1"')],
  ['coverage.json', 'other days of a week', say(/"days": [1-6],/, '"days": 7,')],
  ['coverage.json', 'another start', say('"start_date": "2025-03-01"', '"start_date": "2025-02-28"')],
  ['coverage.json', 'more', another],
  ['restatements.json', 'other tokens', say(/"tokens_before": "\d+"/, '"tokens_before": "1"')],
  ['restatements.json', 'another note', say('A region delivered late.', 'Nothing.')],
  ['restatements.json', 'another week', say('"table": "weekly"', '"table": "monthly"')],
  ['restatements.json', 'more', another],
  ['restatements.json', 'missing', remove],
  // The history.
  ['history.parquet', 'cut', cut],
  ['history.parquet', 'missing', remove],
  ['history.csv.gz', 'one bit', flip],
  ['history.csv.gz', 'missing', remove],
  // The chain and what points to its end.
  ['releases/index.json', 'another status', say('"status": "superseded"', '"status": "withdrawn"')],
  ['releases/index.json', 'a broken chain', say('"data_version": "1.0.0"', '"data_version": "1.0.1"')],
  ['releases/index.json', 'another successor', say(`"superseded_by": "${R2}"`, `"superseded_by": "${R3}"`)],
  ['releases/index.json', 'more', another],
  ['latest.json', 'an older release', say(R4, R3)],
  ['latest.json', 'more', another],
  ['latest.json', 'missing', remove],
  ['latest', 'an older release', link(`releases/${R3}`)],
  // What is beside the dataset.
  ['/api/v1/datasets/rankings-daily.json', 'one bit', flip],
  ['/api/v1/embeddings/models.json', 'a space', space],
  ['/api/v1/embeddings/models.json', 'missing', remove],
  ['/catalog.json', 'another date', say('"next_expected": "2025-03-13', '"next_expected": "2025-04-13')],
  ['/catalog.json', 'missing', remove],
  ['/feed.atom', 'a space', space],
  ['/feed.json', 'another title', say('"title"', '"titel"')],
  ['/LICENSE', 'a space', space],
  ['/CITATION.cff', 'missing', remove],
  ['/dcat.jsonld', 'a space', space],
  ['croissant.json', 'a space', space],
  ['/index.html', 'a space', space],
  ['/coverage/2025.html', 'missing', remove],
  ['/assets/site.css', 'a space', space],
  ['/robots.txt', 'a space', space],
  ['/llms.txt', 'a space', space],
  ['/feed.atom', 'missing', remove],
  ['/sitemap.xml', 'missing', remove],
]

const WITHDRAWN: Case[] = [
  [`releases/${R2}/TOMBSTONE.json`, 'missing', remove],
  [`releases/${R2}/TOMBSTONE.json`, 'another reason', say('It counted a test.', 'Nothing.')],
  [`releases/${R2}/TOMBSTONE.json`, 'another release', say(R2, R1)],
  ['releases/index.json', 'another reason', say('It counted a test.', 'Nothing.'), 'chain.json'],
  ['coverage.json', 'another reason', say('"no_public_usage"', '"removed"')],
  [`releases/${R2}/rankings-daily.csv`, 'a stray', create],
  ['releases/index.json', 'called superseded', say('"status": "withdrawn"', '"status": "superseded"')],
  [`releases/${R1}/rankings-daily.csv.gz`, 'one bit', flip],
  ['coverage.json', 'other tokens', say(/"total_tokens": "\d+"/, '"total_tokens": "1"')],
  ['coverage.json', 'another release', say(`"release": "${R4}"`, `"release": "${R3}"`)],
  ['restatements.json', 'another reason', say('"late_data"', '"unspecified"')],
  ['daily/2025-03-02/r1.json', 'one bit', flip],
  ['monthly/2025-03/r1.parquet', 'missing', remove],
  ['daily/2025-03-05/r1.json', 'one bit', flip],
  ['daily/2025-03-11/r1.json', 'another release', say('2025-03-12T00:15', '2025-03-11T00:15')],
  ['monthly/2025-03/r4.csv', 'one bit', flip],
  ['monthly/2025-03/r9.csv', 'a stray', create],
  ['/feed.atom', 'a space', space],
  ['/changelog.html', 'a space', space],
]

const folders = new Map<string, Workspace>()

beforeAll(async () => {
  for (const name of ['release-4', 'withdrawal']) folders.set(name, await createWorkspace())
})

it('verifies both histories before they are changed', async () => {
  await buildHistory(async (step, workspace) => {
    const copy = folders.get(step)
    if (copy !== undefined) await cp(workspace.publicDir, copy.publicDir, { recursive: true, verbatimSymlinks: true })
  })
  for (const [name, { publicDir }] of folders) {
    expect(await verifyFolder(publicDir), name).toMatchObject({ releases: 4, latest: R4 })
    expect((await readdir(join(publicDir, 'models'))).length).toBeGreaterThan(5)
  }
})

afterAll(async () => {
  for (const workspace of folders.values()) await removeWorkspace(workspace)
})

describe.each([
  ['release-4', WHOLE],
  ['withdrawal', WITHDRAWN],
] as const)('in the history up to the %s verify names', (step, cases) => {
  it.each(cases)('%s after this change: %s', async (path, _how, tampering, named = path) => {
    const publicDir = folders.get(step)?.publicDir ?? ''
    const full = (each: string) => join(publicDir, each.startsWith('/') ? each : `${DATASET}/${each}`)
    const restore = await tamper(full(path), tampering)
    try {
      await expect(verifyFolder(publicDir, { withPages: path.startsWith('/') })).rejects.toThrow(full(named))
    } finally {
      await restore()
    }
  })
})

/** Returns what takes it back. */
async function tamper(path: string, tampering: Tampering): Promise<() => Promise<void>> {
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false
  const before = isLink ? await readlink(path) : await readFile(path).catch(() => undefined)
  const after = tampering(Buffer.from(before ?? ''))
  await put(path, after)
  return async () => {
    await put(path, isLink ? `-> ${before}` : before)
    if (before === undefined && (await readdir(dirname(path))).length === 0)
      await rm(dirname(path), { recursive: true })
  }
}

async function put(path: string, content: Buffer | string | undefined): Promise<void> {
  await rm(path, { force: true })
  const target = typeof content === 'string' && content.startsWith('-> ') ? content.slice(3) : undefined
  if (target !== undefined) return symlink(target, path)
  if (content === undefined) return
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}
