/** Releases that were changed by somebody who knows how they are proved. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toChecksums } from '../../pipeline/base/checksums.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { Coverage, Restatements } from '../../pipeline/contract/ledger.ts'
import { Manifest, ReleaseIndex, type Resource } from '../../pipeline/contract/manifest.ts'
import { describeDataset } from '../../pipeline/release/documents/describe.ts'
import { renderDocuments } from '../../pipeline/release/documents/documents.ts'
import { appendEvents, missingEvents, NO_EVENTS } from '../../pipeline/release/events.ts'
import { appendRelease } from '../../pipeline/release/index.ts'
import type { TextFile } from '../../pipeline/release/stage.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { datasetFolder, sha256, type Workspace } from './pipeline.ts'

/**
 * Replaces a file of a release so that manifest, documents and checksums agree with it, as somebody would who hides the
 * change.
 */
export async function replaceInRelease(
  folder: string,
  name: string,
  text: string | Buffer,
  edit: (manifest: Manifest) => Manifest = (manifest) => manifest,
): Promise<void> {
  const manifest = edit(Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))))
  const former = manifest.files.find(({ path }) => path === name)
  if (former === undefined) throw new Error(`there is no ${name}`)
  const documents = ['datapackage.json', 'croissant.json', 'dcat.jsonld', 'README.md']
  const write = async (path: string, content: string | Buffer) => {
    const file = manifest.files.find((entry) => entry.path === path)
    await writeFile(join(folder, path), content)
    if (file !== undefined) Object.assign(file, { bytes: Buffer.byteLength(content), sha256: sha256(content) })
  }
  const [oldHash, oldBytes] = [former.sha256, former.bytes]
  await write(name, text)
  // Not the same digits in a hash.
  const size = new RegExp(`(?<![0-9a-f])${oldBytes}(?![0-9a-f])`, 'g')
  for (const document of documents) {
    const content = await readFile(join(folder, document), 'utf8')
    await write(document, content.replaceAll(oldHash, sha256(text)).replaceAll(size, `${text.length}`))
  }
  await sealRelease(folder, manifest)
}

/** Writes this manifest, and checksums of the files that it lists. */
export async function sealRelease(folder: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest)
  await writeFile(join(folder, 'manifest.json'), text)
  const all = [...manifest.files, { path: 'manifest.json', sha256: sha256(text) }]
  await writeFile(join(folder, 'SHA256SUMS'), toChecksums(all))
}

/** Makes the index and the events fit the manifests of releases that were changed. */
export async function relistReleases(workspace: Workspace): Promise<void> {
  const path = join(datasetFolder(workspace), 'releases/index.json')
  const { releases, ...rest } = ReleaseIndex.parse(JSON.parse(await readFile(path, 'utf8')))
  let index: ReleaseIndex = { ...rest, releases: [] }
  for (const entry of releases) {
    const { release } = entry
    if (entry.status === 'withdrawn') {
      index = { ...index, releases: [...index.releases, entry] }
      continue
    }
    const folder = join(datasetFolder(workspace), 'releases', release)
    const own = sha256(await readFile(join(folder, 'manifest.json')))
    index = appendRelease(index, await readManifest(folder), own)
  }
  await writeFile(path, toJson(index))
  const events = appendEvents(NO_EVENTS, missingEvents(NO_EVENTS, index))
  await writeFile(join(datasetFolder(workspace), 'chain.json'), toJson(events))
}

/** Changes what the manifest of a release says, with its checksums. */
export async function editManifest(
  workspace: Workspace,
  release: string,
  edit: (manifest: Manifest) => Manifest,
): Promise<void> {
  const folder = join(datasetFolder(workspace), 'releases', release)
  await replaceInRelease(folder, 'changes.csv', await readFile(join(folder, 'changes.csv')), edit)
}

/** Documents that came with 0.13.0. */
const NEWER = ['LICENSE']

/** Makes a release one of 0.6.0, which had no tables of weeks and months, and fewer documents. The next build makes what follows from it. */
export async function madeBy060(workspace: Workspace, release: string): Promise<void> {
  const folder = join(datasetFolder(workspace), 'releases', release)
  const { tables: _tables, files, changes, ...rest } = await readManifest(folder)
  const facts = changes?.facts.filter((fact) => !isOfPeriods(fact)) ?? []
  const manifest = { ...rest, ...(changes && { changes: { ...changes, facts } }) }
  const isNewer = (path: string) => isOfPeriods(path) || NEWER.includes(path)
  for (const { path } of files) if (isNewer(path)) await rm(join(folder, path))
  const kept = files.filter(({ path }) => !isNewer(path) && path !== 'index.html')
  const all = renderDocuments(describeDataset({ ...manifest, files: kept }))
  const documents = all.filter(({ path }) => !NEWER.includes(path))
  const names = new Set(documents.map(({ path }) => path))
  const described = kept.filter(({ path }) => !names.has(path))
  const write = async ({ path, media_type, text }: TextFile): Promise<Resource> => {
    await writeFile(join(folder, path), text)
    return { path, media_type, bytes: Buffer.byteLength(text), sha256: sha256(text) }
  }
  const listed = [...described, ...(await Promise.all(documents.map(write)))]
  await sealRelease(folder, { ...manifest, files: listed })
  await rm(join(folder, 'index.html'))
  await editBeside(workspace, 'coverage.json', (json) => {
    const { weekly: _weekly, monthly: _monthly, ...coverage } = Coverage.parse(json)
    return coverage
  })
  await editBeside(workspace, 'restatements.json', (json) => {
    const { restatements, ...dataset } = Restatements.parse(json)
    return { ...dataset, restatements: restatements.map(({ periods: _periods, ...each }) => each) }
  })
}

async function editBeside(workspace: Workspace, name: string, edit: (json: unknown) => unknown): Promise<void> {
  const path = join(datasetFolder(workspace), name)
  await writeFile(path, toJson(edit(JSON.parse(await readFile(path, 'utf8')))))
}

function isOfPeriods(name: string): boolean {
  return /weekly|monthly/.test(name)
}

/** Makes a release one of 0.1.0: the same files with the version of that time. */
export function madeBy010(workspace: Workspace, release: string, data_version: string): Promise<void> {
  return editManifest(workspace, release, ({ version_rule: _rule, ...manifest }) => ({ ...manifest, data_version }))
}
