import { join } from 'node:path'
import { snapshotTree } from '../support/pipeline.ts'

/** A published folder as text: of each file its SHA-256, of each link where it leads, in the order of their paths. */
export async function hashesOf(publicDir: string): Promise<string> {
  const entries = Object.entries(await snapshotTree(publicDir)).filter(([, is]) => is !== 'folder')
  return entries
    .map(([path, is]) => `${is}  ${path}\n`)
    .sort((one, other) => (one.slice(one.indexOf('  ')) < other.slice(other.indexOf('  ')) ? -1 : 1))
    .join('')
}

/** Where the hashes of a published folder are kept. */
export function treeFile(name: string): string {
  return join(import.meta.dirname, 'trees', `${name}.txt`)
}
