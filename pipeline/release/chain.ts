import { join } from 'node:path'
import { CliError } from '../base/errors.ts'
import { DATASET_PATH, type ReleaseIndex, type ReleaseName } from '../contract/manifest.ts'
import { currentEntry, EMPTY_INDEX } from './index.ts'
import { readManifest } from './verify.ts'

export interface Chain {
  index: ReleaseIndex
  replaced: readonly ReleaseName[]
}

type ChainKind = 'empty' | 'synthetic' | 'real'

export async function kindOfChain(publicDir: string, index: ReleaseIndex): Promise<ChainKind> {
  const current = currentEntry(index)
  if (current === undefined) return 'empty'
  const { synthetic } = await readManifest(join(publicDir, DATASET_PATH, current.path))
  return synthetic ? 'synthetic' : 'real'
}

/** Synthetic and real releases never share a chain. Throws `CliError` for a sample over real releases. */
export function chooseChain(
  kind: ChainKind,
  index: ReleaseIndex,
  { publicDir, synthetic, startsAnew }: { publicDir: string; synthetic: boolean; startsAnew: boolean },
): Chain {
  if (synthetic && startsAnew) {
    throw new CliError(
      '--new-chain starts a chain of real releases, but there is no sources file; name your own logs in SOURCES',
    )
  }
  if (synthetic && kind === 'real') {
    throw new CliError(
      `${publicDir} holds real releases, and the synthetic sample is never built over them: name your own logs in ` +
        'SOURCES, or give the sample a PUBLIC_DIR and a DATA_DIR of its own',
    )
  }
  const isNew = kind !== 'empty' && !synthetic && (startsAnew || kind === 'synthetic')
  if (!isNew) return { index, replaced: [] }
  return { index: EMPTY_INDEX, replaced: index.releases.map(({ release }) => release) }
}
