import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { BuildError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { fingerprintOf } from '../base/sshsig.ts'
import { SIGNED_SITE } from '../contract/published-paths.ts'
import type { Timestamp } from '../contract/ranking.ts'
import { SignedSite } from '../contract/site.ts'
import { readSigned } from './signatures.ts'

interface PublishedSize {
  files: number
  bytes: number
}

/** Facts of the public folder after a build. */
export interface PublishedFacts {
  published: PublishedSize
  /** The key that signed what is published, and until when. Undefined if it is not signed. */
  signature?: { signed_by: string; expires: Timestamp }
}

/** How large the public folder is, and who signed it. */
export async function factsOfPublished(publicDir: string): Promise<PublishedFacts> {
  const published = await measure(publicDir)
  const { signer, text } = (await readSigned(publicDir, SIGNED_SITE)) ?? {}
  if (signer === undefined || text === undefined) return { published }
  const { expires } = parseJson(SignedSite, text, SIGNED_SITE, BuildError)
  return { published, signature: { signed_by: fingerprintOf(signer), expires } }
}

/** Sums all files below the public folder. Links are not followed. */
async function measure(publicDir: string): Promise<PublishedSize> {
  const entries = await readdir(publicDir, { withFileTypes: true, recursive: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== '.lock')
    .map((entry) => `${entry.parentPath}/${entry.name}`)
  return { files: paths.length, bytes: paths.reduce((sum, path) => sum + statSync(path).size, 0) }
}
