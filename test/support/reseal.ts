/** Releases that were changed by somebody who knows how they are proved. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toChecksums } from '../../pipeline/checksums.ts'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { sha256 } from './pipeline.ts'

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
  for (const document of documents) {
    const content = await readFile(join(folder, document), 'utf8')
    await write(document, content.replaceAll(oldHash, sha256(text)).replaceAll(`${oldBytes}`, `${text.length}`))
  }
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
  const all = [...manifest.files, { path: 'manifest.json', sha256: sha256(JSON.stringify(manifest)) }]
  await writeFile(join(folder, 'SHA256SUMS'), toChecksums(all))
}
