import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError, reasonOf } from '../base/errors.ts'
import { parseFlag } from '../base/json.ts'
import { DATASET_PATH, type ReleaseEntry, type ReleaseIndex, ReleaseName, releasePath } from '../contract/manifest.ts'
import { type Timestamp, toTimestamp } from '../contract/ranking.ts'
import { RestatementNote } from '../contract/reason.ts'
import { TOMBSTONE_FILE } from '../contract/tombstone.ts'
import { Ledger } from '../ledger/ledger.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { readManifest } from '../release/verify.ts'
import { withWorkspace } from '../rollup/workspace.ts'
import { closeStaging, openFolder } from './public-folder.ts'
import { publishWithdrawal, recover } from './publish.ts'
import { openSigning } from './signing.ts'

export interface WithdrawOptions {
  release: string
  reason: string
  dryRun?: boolean
}

export interface WithdrawSummary {
  outcome: 'withdrawn' | 'would_withdraw'
  release: ReleaseName
  withdrawn_at: Timestamp
  reason: string
  /** The current release afterwards. It differs only if the withdrawn release was current. */
  current: ReleaseName
  was_current: boolean
  /** Releases whose `changes.csv` lists changes to the withdrawn rows. A key of `--json`. */
  still_told_by: ReleaseName[]
  path: string
}

/**
 * Replaces a release by a tombstone and makes the newest remaining one current; the next build repairs a stop. Throws
 * `CliError` for an unknown release, `BuildError` for one that cannot be withdrawn.
 */
export async function withdraw(
  config: PipelineConfig,
  effects: Effects,
  { release, reason, dryRun = false }: WithdrawOptions,
): Promise<WithdrawSummary> {
  const asked = {
    release: readRelease(release),
    reason: parseFlag('--reason', RestatementNote, reason),
    at: config.asOf ?? effects.now(),
  }
  const publicDir = resolve(config.publicDir)
  if (dryRun) {
    return { outcome: 'would_withdraw', ...(await plan(await readIndex(publicDir), asked, publicDir)) }
  }
  // Check before the workspace is made, so that a typo leaves no folders.
  findEntry(await readIndex(publicDir), asked.release)
  const { signal, report } = effects
  const signing = await openSigning(config, { at: toTimestamp(asked.at), signal })
  return withWorkspace(config, effects, async (workspace) => {
    const { database, reach } = workspace
    await database.confine(reach)
    const folder = openFolder(workspace, config, effects, signing)
    const { ledger } = await recover(folder, database)
    const planned = await plan(ledger.now.index, asked, publicDir)
    signal.throwIfAborted()
    report({ kind: 'stage', stage: 'withdraw' })
    const withdrawal = { withdrawn_at: planned.withdrawn_at, reason: planned.reason }
    try {
      const withdrawn = { releases: [asked.release], withdrawal, isErased: false }
      await publishWithdrawal(folder, ledger, withdrawn, database, async () => signal.throwIfAborted())
    } catch (error) {
      const { now } = await Ledger.open(config.dataDir, effects.files)
      if (findEntry(now.index, asked.release).status !== 'withdrawn') {
        await closeStaging(publicDir, effects.files)
        throw error
      }
      const why = signal.aborted ? 'stopped' : reasonOf(error)
      throw new BuildError(
        `${release} is withdrawn, but not all that follows is done: ${why}; make build completes it`,
        {
          cause: error,
        },
      )
    }
    report({ kind: 'done', stage: 'withdraw', detail: `${release}, and all that followed from it` })
    return { outcome: 'withdrawn', ...planned }
  })
}

interface Asked {
  release: ReleaseName
  reason: string
  at: Date
}

type Plan = Omit<WithdrawSummary, 'outcome'>

async function plan(index: ReleaseIndex, { release, reason, at }: Asked, publicDir: string): Promise<Plan> {
  const entry = findEntry(index, release)
  if (entry.status === 'withdrawn') {
    const when =
      entry.withdrawal === undefined ? '' : `, at ${entry.withdrawal.withdrawn_at}: ${entry.withdrawal.reason}`
    throw new BuildError(`release ${release} was withdrawn already${when}`)
  }
  const others = index.releases.filter((other) => other !== entry)
  const current = currentEntry({ ...index, releases: others })
  if (current === undefined) {
    throw new BuildError(
      `release ${release} is the only one that stands: without it nothing would be current; build another one first`,
    )
  }
  const withdrawn_at = toTimestamp(at)
  const newest = index.releases.at(-1)
  if (newest !== undefined && withdrawn_at < newest.as_of) {
    throw new BuildError(
      `AS_OF ${withdrawn_at} is before that of the newest release, ${newest.as_of}; give a later one, or check the clock`,
    )
  }
  return {
    release,
    withdrawn_at,
    reason,
    current: current.release,
    was_current: currentEntry(index) === entry,
    still_told_by: await successorsOf(release, index, publicDir),
    path: join(publicDir, releasePath(release), TOMBSTONE_FILE),
  }
}

async function successorsOf(release: ReleaseName, index: ReleaseIndex, publicDir: string): Promise<ReleaseName[]> {
  const successors: ReleaseName[] = []
  for (const later of index.releases) {
    if (later.release <= release || later.status === 'withdrawn') continue
    const { changes } = await readManifest(join(publicDir, DATASET_PATH, later.path))
    if (changes.previous === release) successors.push(later.release)
  }
  return successors
}

function findEntry(index: ReleaseIndex, release: ReleaseName): ReleaseEntry {
  const entry = index.releases.find((each) => each.release === release)
  if (entry !== undefined) return entry
  const newest = index.releases.slice(-3).map((each) => each.release)
  const known = newest.length === 0 ? 'nothing was published yet' : `the newest are ${newest.join(', ')}`
  throw new CliError(`there is no release ${release}; ${known}`)
}

function readRelease(given: string): ReleaseName {
  const parsed = ReleaseName.safeParse(given)
  if (parsed.success) return parsed.data
  throw new CliError(`${JSON.stringify(given)} ${parsed.error.issues[0]?.message}`)
}
