import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'

export interface PublishedSize {
  files: number
  bytes: number
}

/** Sums all files below the public folder. Links are not followed. */
export async function measure(publicDir: string): Promise<PublishedSize> {
  const entries = await readdir(publicDir, { withFileTypes: true, recursive: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== '.lock')
    .map((entry) => `${entry.parentPath}/${entry.name}`)
  return { files: paths.length, bytes: paths.reduce((sum, path) => sum + statSync(path).size, 0) }
}
