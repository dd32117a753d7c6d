/** Releases that were changed by somebody who knows how they are proved. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toChecksums } from '../../pipeline/base/checksums.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { Manifest, ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { appendEvents, missingEvents, NO_EVENTS } from '../../pipeline/release/events.ts'
import { appendRelease } from '../../pipeline/release/index.ts'
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
