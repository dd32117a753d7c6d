import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BuildError, CliError, reasonOf } from '../base/errors.ts'
import { type Files, replaceFile } from '../base/files.ts'
import { parseFlag, toJson } from '../base/json.ts'
import { type Deposit, type Deposits, RepositoryUrl } from '../contract/deposits.ts'
import type { ReleaseName } from '../contract/manifest.ts'
import { DEPOSITS_FILE, newestDeposit, readDeposits } from '../release/deposits.ts'

const DEFAULT_REPOSITORY = 'https://zenodo.org'

/** What is deposited for a trial. Builds do not read it: DOIs of a sandbox lead nowhere. */
export const TRIAL_FILE = 'deposits-trial.json'

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Whether a repository is for trials: a host named sandbox.*, or this machine. */
export function isTrial(repository: string): boolean {
  const { hostname } = new URL(repository)
  return hostname.startsWith('sandbox.') || LOOPBACK.test(hostname)
}

/** The repository that was asked for, or else the one of `deposits.json`, or else Zenodo. Throws `CliError`. */
export async function chooseRepository(dataDir: string, given: string | undefined): Promise<string> {
  if (given === undefined) return (await readDeposits(dataDir))?.repository ?? DEFAULT_REPOSITORY
  const url = parseFlag('--repository', RepositoryUrl, given)
  const { protocol, hostname, username, password, search, hash } = new URL(url)
  if ([username, password, search, hash].some((part) => part !== '')) {
    throw new CliError('--repository has more than a host and a path')
  }
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return url
  throw new CliError(`--repository ${url} has no https://, so the token could be read on the way`)
}

/**
 * The file of deposits of one repository: the only thing that is remembered. It is replaced after
 * each step that makes, describes or publishes a record.
 */
export class DepositState {
  readonly path: string
  readonly #files: Files
  #deposits: Deposits

  private constructor(path: string, files: Files, deposits: Deposits) {
    this.path = path
    this.#files = files
    this.#deposits = deposits
  }

  /** Throws `CliError` if the file is wrong, or is that of another repository. */
  static async read(dataDir: string, repository: string, files: Files): Promise<DepositState> {
    const name = isTrial(repository) ? TRIAL_FILE : DEPOSITS_FILE
    const path = join(dataDir, name)
    const known = await readDeposits(dataDir, name)
    if (known !== undefined && known.repository !== repository) {
      throw new CliError(
        `${path} has what was deposited at ${known.repository}; all releases go to one repository. ` +
          `To change to ${repository} for good, move that file away: its DOIs then go out of the metadata`,
      )
    }
    return new DepositState(path, files, known ?? { repository, concept_id: null, concept_doi: null, releases: {} })
  }

  get deposits(): Deposits {
    return this.#deposits
  }

  of(release: ReleaseName): Deposit | undefined {
    return this.#deposits.releases[release]
  }

  isPublished(release: ReleaseName): boolean {
    return this.of(release)?.state === 'published'
  }

  /** The deposited release before which no version can be put any more. */
  newestPublished(): [ReleaseName, Deposit] | undefined {
    return newestDeposit(this.#deposits)
  }

  /**
   * The command that goes on with a release at this repository. Without `--repository` it would be that of
   * `deposits.json`, or else Zenodo.
   */
  commandFor(release: ReleaseName, { publish }: { publish: boolean }): string {
    const { repository, releases } = this.#deposits
    const isRemembered = !isTrial(repository) && Object.keys(releases).length > 0
    const words = [release, ...(isRemembered ? [] : ['--repository', repository]), ...(publish ? [] : ['--draft'])]
    return `make deposit ARGS="${words.join(' ')}"`
  }

  /** Throws `BuildError` if a newer release was deposited. */
  checkIsNewest(release: ReleaseName): void {
    const [newest = ''] = this.newestPublished() ?? []
    if (newest < release) return
    throw new BuildError(
      `release ${newest} is deposited, and ${release} is older: a repository only appends versions, so it stays out`,
    )
  }

  async note(release: ReleaseName, deposit: Deposit, concept: Partial<Deposits> = {}): Promise<void> {
    const releases = { ...this.#deposits.releases, [release]: deposit }
    await this.#write({ ...this.#deposits, ...concept, releases })
  }

  /** Forgets a draft that the repository no longer has. */
  async forget(release: ReleaseName): Promise<void> {
    const { [release]: _, ...releases } = this.#deposits.releases
    await this.#write({ ...this.#deposits, releases })
  }

  async #write(deposits: Deposits): Promise<void> {
    const releases = Object.fromEntries(Object.entries(deposits.releases).sort(([a], [b]) => (a < b ? -1 : 1)))
    await replaceFile(this.#files, this.path, toJson({ ...deposits, releases }))
    this.#deposits = deposits
  }
}

/** The token in a file. Throws `CliError`, which never has what the file says. */
export async function readToken(path: string | undefined): Promise<string> {
  if (path === undefined) {
    throw new CliError('a token of the repository is needed: name its file as --token-file or DEPOSIT_TOKEN_FILE')
  }
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CliError(`${path} cannot be read: ${reasonOf(error)}`)
  })
  const token = text.trim()
  if (/^[!-~]+$/.test(token)) return token
  throw new CliError(`${path} must have the token alone, on one line`)
}
