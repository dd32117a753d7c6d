import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, HeldError, reasonOf } from '../base/errors.ts'
import { parseFlag } from '../base/json.ts'
import { type Lock, lock } from '../base/lock.ts'
import { counted } from '../base/numbers.ts'
import { PassingError, type Pause, realPause } from '../base/retrying.ts'
import type { Doi } from '../contract/doi.ts'
import { ReleaseName } from '../contract/manifest.ts'
import { type PlannedRequest, plannedRequests } from './plan.ts'
import { type DepositedFile, type DepositedRelease, readRelease } from './release.ts'
import { Repository } from './repository.ts'
import { chooseRepository, DepositState, isTrial, readToken } from './state.ts'
import { carryOut } from './steps.ts'

export interface DepositOptions {
  /** The name of a release; the current one by default. */
  release?: string | undefined
  repository?: string | undefined
  tokenFile?: string | undefined
  /** False to leave the record as a draft. */
  publish?: boolean
  dryRun?: boolean
}

/** What was done. `unchanged`: the release was deposited before. */
export interface DepositSummary {
  outcome: 'published' | 'drafted' | 'unchanged' | 'would_deposit'
  release: ReleaseName
  repository: string
  /** Whether the repository is for trials. Its DOIs are not published. */
  trial: boolean
  doi: Doi | null
  concept_doi: Doi | null
  url: string | null
  /** The command that publishes a draft; null of all else. */
  next: string | null
  files: Pick<DepositedFile, 'key' | 'bytes' | 'md5'>[]
  bytes: number
  /** Only of a dry run. */
  requests?: PlannedRequest[]
}

/** Milliseconds before each new try after one that got nowhere. A longer `Retry-After` wins. */
const WAITS_MS = [1_000, 4_000, 16_000, 60_000] as const
const LONGEST_WAIT_MS = 5 * 60_000

/**
 * Deposits a release at a repository, or goes on with what was begun. Throws `CliError` for wrong settings, `BuildError`
 * for a release that cannot be deposited, for a refusal, and if the repository cannot be reached, `HeldError` if
 * another deposit is running.
 */
export async function deposit(
  config: Pick<PipelineConfig, 'dataDir' | 'publicDir' | 'depositTokenFile'>,
  effects: Effects,
  { release: name, repository: given, tokenFile, publish = true, dryRun = false }: DepositOptions = {},
  pause: Pause = realPause,
): Promise<DepositSummary> {
  const { dataDir } = config
  const asked = name === undefined ? undefined : parseFlag('the release', ReleaseName, name)
  const url = await chooseRepository(dataDir, given)
  const openState = () => DepositState.read(dataDir, url, effects.files)
  await openState()
  effects.report({ kind: 'stage', stage: 'verify' })
  const released = await readRelease(resolve(config.publicDir), asked, { isTrial: isTrial(url) })
  const { release } = released.manifest
  if (dryRun) {
    const state = await openState()
    if (state.isPublished(release)) return summarize('unchanged', released, state)
    state.checkIsNewest(release)
    const requests = plannedRequests(released, state, publish)
    return { ...summarize('would_deposit', released, state), requests }
  }
  const locked = await lockDeposits(dataDir, effects)
  try {
    const state = await openState()
    if (state.isPublished(release)) return summarize('unchanged', released, state)
    state.checkIsNewest(release)
    const repository = new Repository(url, await readToken(tokenFile ?? config.depositTokenFile), effects.signal)
    const { report } = effects
    const work = (onStep: () => void) => carryOut({ repository, state, released, publish, report, onStep })
    await persist(work, effects, { pause, next: () => state.commandFor(release, { publish }) })
    return summarize(publish ? 'published' : 'drafted', released, state)
  } finally {
    await locked.release()
  }
}

function summarize(
  outcome: DepositSummary['outcome'],
  { manifest: { release }, files, bytes }: DepositedRelease,
  state: DepositState,
): DepositSummary {
  const { doi = null, url = null } = state.of(release) ?? {}
  const { repository, concept_doi } = state.deposits
  const listed = files.map(({ key, bytes, md5 }) => ({ key, bytes, md5 }))
  const trial = isTrial(repository)
  const next = outcome === 'drafted' ? state.commandFor(release, { publish: true }) : null
  return { outcome, release, repository, trial, doi, concept_doi, url, next, files: listed, bytes }
}

async function lockDeposits(dataDir: string, { files }: Effects): Promise<Lock> {
  const folder = join(dataDir, 'state')
  await files.makeFolder(folder)
  const path = join(folder, 'deposit.lock')
  try {
    return await lock(path)
  } catch (error) {
    if (error instanceof HeldError) throw error
    throw new BuildError(`${path} cannot be locked: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * Does the work again after a passing error. Each try asks the repository how far it is, as a later command does. Tries
 * that got a step further do not count.
 */
async function persist(
  work: (onStep: () => void) => Promise<void>,
  { signal, report }: Effects,
  { pause, next }: { pause: Pause; next: () => string },
): Promise<void> {
  const stopped = () => new BuildError(`stopped; to go on: ${next()}`)
  let failures = 0
  const onStep = () => {
    failures = 0
  }
  for (;;) {
    try {
      return await work(onStep)
    } catch (error) {
      if (signal.aborted) throw stopped()
      if (!(error instanceof PassingError)) throw error
      const wait = Math.max(WAITS_MS[failures] ?? Number.POSITIVE_INFINITY, error.waitMs)
      if (wait > LONGEST_WAIT_MS) throw new BuildError(`${error.message}; to go on: ${next()}`)
      failures += 1
      report({ kind: 'notice', message: `${error.message}; trying again in ${counted(wait / 1000, 'second')}` })
      await pause(wait, signal).catch((interrupted: unknown) => {
        throw signal.aborted ? stopped() : interrupted
      })
    }
  }
}
