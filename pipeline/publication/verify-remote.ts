import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { withTemporaryFolder } from '../base/scratch.ts'
import type { ReleaseEntry } from '../contract/manifest.ts'
import { type Patience, RemoteFiles } from './http-client.ts'
import { mirrorSite, readPointers, verifyLatest } from './mirror.ts'
import { type VerifyOptions, type VerifySummary, verify } from './verify.ts'

/** A host that changes more often than this is never at rest. */
const ATTEMPTS = 3

/**
 * Verifies a host like `verify`, except the pages of a site that is not signed. Fetches changes again if a release appears
 * meanwhile. Throws `CliError` for an invalid URL, `BuildError` that names the first wrong URL.
 */
export async function verifyUrl(
  url: string,
  options: Omit<VerifyOptions, 'report' | 'withPages'> & {
    report: Effects['report']
    onVerified(entry: ReleaseEntry): void
    patience?: Patience
  },
): Promise<VerifySummary> {
  const { signal, report, onVerified, patience, signatures = { now: new Date() }, ...rest } = options
  const remote = new RemoteFiles(url, signal, patience)
  const onProgress = (share: number) => report({ kind: 'progress', stage: 'fetch', share })
  return withTemporaryFolder('verify', async (folder) => {
    for (let attempt = 1; ; attempt += 1) {
      const before = await readPointers(remote)
      try {
        const ownAnswers = await mirrorSite(remote, folder, onProgress)
        report({ kind: 'done', stage: 'fetch', detail: remote.urlOf('') })
        const signed = { ...signatures, ownAnswers }
        const verifying = { ...rest, signal, report: onVerified, withPages: false, signatures: signed }
        const summary = await verify(folder, verifying)
        await verifyLatest(remote, folder)
        return summary
      } catch (error) {
        if (!(error instanceof BuildError)) throw error
        if (attempt < ATTEMPTS && (await hasMoved(remote, before))) continue
        throw new BuildError(
          error.message.replaceAll(`${folder}/`, remote.urlOf('')).replaceAll(folder, remote.urlOf('')),
        )
      }
    }
  })
}

async function hasMoved(remote: RemoteFiles, before: string): Promise<boolean> {
  try {
    return (await readPointers(remote)) !== before
  } catch (error) {
    // Report the original error, not that the host failed again.
    if (error instanceof BuildError) return false
    throw error
  }
}
