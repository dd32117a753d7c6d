import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { withTemporaryFolder } from '../base/scratch.ts'
import type { ReleaseEntry } from '../contract/manifest.ts'
import { type Patience, RemoteFiles } from './http-client.ts'
import { mirrorSite, proveLatest, readPointers } from './mirror.ts'
import { type VerifySummary, verify } from './verify.ts'

/** A release may come while another is fetched; a host on which this happens each time is not at rest. */
const ATTEMPTS = 3

/**
 * Proves what a host publishes as `verify` proves a folder, but for the pages, which hosts may change on the way to people
 * and which another version of this project may render otherwise: all else is fetched and read. When a release came in the
 * meantime, what changed is fetched again. Throws `CliError` for what is no address, `BuildError` that names the first
 * thing that is off by its address.
 */
export async function verifyUrl(
  url: string,
  options: { signal: AbortSignal; report: Effects['report']; onProved(entry: ReleaseEntry): void; patience?: Patience },
): Promise<VerifySummary> {
  const { signal, report, onProved, patience } = options
  const remote = new RemoteFiles(url, signal, patience)
  const onProgress = (share: number) => report({ kind: 'progress', stage: 'fetch', share })
  return withTemporaryFolder('verify', async (folder) => {
    for (let attempt = 1; ; attempt += 1) {
      const before = await readPointers(remote)
      try {
        await mirrorSite(remote, folder, onProgress)
        report({ kind: 'done', stage: 'fetch', detail: remote.urlOf('') })
        const summary = await verify(folder, { signal, report: onProved, withPages: false })
        await proveLatest(remote, folder)
        return summary
      } catch (error) {
        if (!(error instanceof BuildError)) throw error
        if (attempt < ATTEMPTS && (await hasMoved(remote, before))) continue
        throw new BuildError(error.message.replaceAll(`${folder}/`, remote.urlOf('')))
      }
    }
  })
}

async function hasMoved(remote: RemoteFiles, before: string): Promise<boolean> {
  try {
    return (await readPointers(remote)) !== before
  } catch (error) {
    // What stopped the proof is the thing to name, not that the host fails again.
    if (error instanceof BuildError) return false
    throw error
  }
}
