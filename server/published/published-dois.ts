import { join } from 'node:path'
import { PublishedDois } from '../../pipeline/contract/dois.ts'
import { DOIS_PATH } from '../../pipeline/contract/published-paths.ts'
import { sharedFingerprint } from '../base/followed-file.ts'
import { jsonIfAny, readIfAny } from '../base/json-file.ts'

/** The DOIs of deposited releases, read again when `dois.json` changes; undefined if it is not there, or is no such file. */
export function publishedDois(publicDir: string): () => Promise<PublishedDois | undefined> {
  const path = join(publicDir, DOIS_PATH)
  let seen: { stamp: string; dois: PublishedDois | undefined } | undefined

  return async () => {
    const stamp = await sharedFingerprint(path)
    if (stamp === undefined) return undefined
    if (seen?.stamp !== stamp) {
      const dois = PublishedDois.safeParse(jsonIfAny(await readIfAny(path))).data
      seen = { stamp, dois }
    }
    return seen.dois
  }
}
