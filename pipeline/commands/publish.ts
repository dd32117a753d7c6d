import { Command } from '@commander-js/extra-typings'
import { readBucketLogin, readPipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, isInterrupt } from '../base/errors.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import { printable } from '../base/prose.ts'
import { readBucketAddress } from '../hosting/bucket-address.ts'
import type { PublishSummary } from '../hosting/summary.ts'
import { say } from './say.ts'
import { runLocked, WAIT } from './wait.ts'

export const publish = new Command('publish')
  .description(
    'Make a bucket of S3, R2 or another service with that API a copy of what is published. Run it after each build.',
  )
  .argument('<bucket>', 'its address: s3://BUCKET or s3://BUCKET/PREFIX', readBucketAddress)
  .option('--url <url>', "the public address of the bucket, to read the result over HTTP (default: the publisher's)")
  .option('--no-prove', 'do not read the result over HTTP')
  .option('--delete', 'also delete what the public folder does not have and no withdrawal took')
  .option('--again', 'upload every file again, such as after an upgrade that changed headers')
  .option(
    '--new-chain',
    'after build --new-chain: replace the other chain that the bucket has, and delete what is left of it',
  )
  .option('--dry-run', 'list the bucket and say what would be done; change nothing')
  .option(...WAIT)
  .option('--json', 'print what was done as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Uploads what differs with its media type and Cache-Control: files that never change first, then pages, then pointers.
Deletes the files of withdrawn and dropped releases at the end. Other objects that the public folder does not have are named,
and deleted with --delete; names that begin with a dot are left alone. A command that was stopped goes on when it is run again.
No build can run meanwhile. Then it reads pointers and a file of each kind from the public address, and compares bytes and
headers; a cache may have an older pointer for a minute, so this may take as long. stdout has the addresses to purge from
caches, also if the command stops or fails. Settings (environment): PUBLIC_DIR, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
AWS_REGION, AWS_ENDPOINT_URL. More: docs/hosting.md.`,
  )
  .action(
    async (
      address,
      { wait, url, prove, delete: deleteStrays = false, again = false, newChain = false, dryRun = false, json = false },
    ) => {
      const config = readPipelineConfig()
      const login = readBucketLogin()
      const work = async (effects: Effects) => {
        const { publishToBucket } = await import('../hosting/publish.ts')
        const options = { address, login, url, prove, deleteStrays, isAgain: again, isNewChain: newChain, dryRun }
        return publishToBucket(config, effects, options)
      }
      try {
        tell(await runLocked(wait, work), { json, isProving: prove && !dryRun })
      } catch (error) {
        const { UnfinishedError } = await import('../hosting/summary.ts')
        if (error instanceof UnfinishedError) tell(error.summary, { json, isProving: false })
        if (isInterrupt(error)) throw new BuildError('stopped; nothing was changed', { cause: error })
        throw error
      }
    },
  )

/** Says what was done. Throws `BuildError` if the host does not send what was uploaded. */
export function tell(summary: PublishSummary, { json, isProving }: { json: boolean; isProving: boolean }): void {
  // What a person reads comes last, below addresses that may be many.
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : toPurge(summary))
  say(describe(summary, isProving))
  const { proof } = summary
  if (proof !== null && proof.fault !== null) throw new BuildError(unproved(proof.fault))
}

const NAMED = 5

function describe(summary: PublishSummary, isProving: boolean): string {
  const { outcome, release, bucket, files, bytes, uploaded, uploaded_bytes, deleted, strays, purge } = summary
  const isDry = outcome === 'would_publish'
  const changes = `${counted(uploaded.length, 'file')} uploaded, ${formatBytes(uploaded_bytes)}; ${deleted.length} deleted`
  const headlines = {
    published: `published to ${bucket}: ${changes}`,
    unchanged: `nothing changed: ${bucket} is as it was`,
    unfinished: `published only a part to ${bucket}: ${changes}`,
    would_publish: `dry run of ${bucket}, nothing was changed. It would be: ${changes}`,
  }
  const lines = [
    `current   ${release}`,
    `in all    ${counted(files, 'file')}, ${formatBytes(bytes)}`,
    ...(isDry ? listed('upload', uploaded) : []),
    ...listed(isDry ? 'delete' : 'deleted', deleted),
    ...(strays.length === 0 ? [] : [`strays    ${named(strays)}: not in the public folder; --delete deletes them`]),
    ...(isProving ? describeProof(summary) : []),
    ...(isDry || purge.length === 0 ? [] : [`purge     from caches: ${counted(purge.length, 'URL')}, on stdout`]),
  ]
  return `${headlines[outcome]}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function describeProof({ proof }: PublishSummary): string[] {
  if (proof === null) return ['checked   not over HTTP: give the public address of the bucket with --url https://…']
  const { url, files, fault, still_served } = proof
  const cached =
    still_served.length === 0 ? [] : [`cached    ${named(still_served)}: deleted, but still sent; purge them`]
  return [...(fault === null ? [`checked   ${counted(files, 'file')} at ${url}`] : []), ...cached]
}

function listed(word: string, paths: readonly string[]): string[] {
  return paths.length === 0 ? [] : [`${word.padEnd(10)}${named(paths)}`]
}

function named(paths: readonly string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more (--json lists all)` : ''
  return `${paths.slice(0, NAMED).map(printable).join(', ')}${more}`
}

/** One address a line, for a program that purges caches. All of them: the next run does not know them. */
function toPurge({ outcome, purge }: PublishSummary): string {
  return outcome === 'would_publish' ? '' : purge.map((line) => `${line}\n`).join('')
}

function unproved(fault: string): string {
  return (
    `everything was uploaded, but the check over HTTP failed: ${fault}. If the public address is another, give it with --url; ` +
    'if headers differ, correct the rules of the host or upload with --again'
  )
}
