import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { pinsFile, readPipelineConfig } from '../base/config.ts'
import { CliError, reasonOf } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { fingerprintOf } from '../base/sshsig.ts'
import { PublicKey } from '../contract/events.ts'
import type { ReleaseEntry } from '../contract/manifest.ts'
import type { Pin } from '../publication/trust.ts'
import type { VerifyOptions, VerifySummary } from '../publication/verify.ts'
import type { SignatureSummary } from '../publication/verify-signatures.ts'
import { say } from './output.ts'
import { createReporter } from './reporter.ts'
import { withInterrupt } from './running.ts'

export const verify = new Command('verify')
  .description('Verify the published files: signatures, checksums, hashes, equal rows in every format, the chain.')
  .argument('[place]', 'a folder, or the http(s) address of one on any host; PUBLIC_DIR by default')
  .option('--key <key>', 'the fingerprint of a key of the publisher, such as SHA256:…, or a file with the public key')
  .option(
    '--since <file>',
    'a chain.json, releases/index.json or SHA256SUMS that you saved: nothing in it may have changed',
  )
  .option('--fresh', 'fail if the signature is out of date, or if there is none')
  .option('--no-pin', 'neither read nor write pins')
  .option('--json', 'print what was verified as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Of a signed site, every file is compared with the signed list, and in a folder those that are not listed are named. The key
is pinned: the next time, the site must be signed by that key or one that it signed for, and have all events that it had.
The pins are in tokenboard/pins.json in your folder of settings (~/.config). With --key nothing is taken on trust: give the
fingerprint that the publisher tells elsewhere.

After a withdrawal, revisions of days and months that came with the withdrawn release cannot be verified unless the site is
signed. The output names them (--json: not_verified). Anything else that is wrong ends with exit code 1, also a page that
another version made: after an upgrade, build first. Settings (environment): PUBLIC_DIR.`,
  )
  .action(async (place, { json, key, since, fresh, pin }) => {
    const asked = await readAsked({ place: place ?? readPipelineConfig().publicDir, key, since, fresh, pin })
    const { summary, pinned, notKept } = await withInterrupt((signal) => verifyPlace(asked, signal))
    say(describe(summary, pinned))
    if (since !== undefined) say(`nothing in ${since} has changed, but for what events tell of\n`)
    if (notKept !== undefined) say(`not pinned: ${notKept}; the next time, nothing is known of this one\n`)
    if (json === true) process.stdout.write(`${JSON.stringify({ ...summary, pinned, since: since ?? null })}\n`)
  })

interface Given {
  place: string
  key: string | undefined
  since: string | undefined
  fresh: true | undefined
  pin: boolean
}

interface Asked extends Pick<VerifyOptions, 'since'> {
  place: string
  isRemote: boolean
  key: string | undefined
  isFresh: boolean
  /** The file of pins. Undefined if none are kept. */
  pins: string | undefined
}

async function readAsked({ place, key, since, fresh, pin }: Given): Promise<Asked> {
  const isRemote = /^https?:/i.test(place)
  return {
    place: isRemote ? place : resolve(place),
    isRemote,
    key: key === undefined ? undefined : await readFingerprint(key),
    since: since === undefined ? undefined : { text: await readNamed('--since', since), path: since },
    isFresh: fresh === true,
    pins: pin ? pinsFile() : undefined,
  }
}

/** Throws `CliError` if it is neither a fingerprint nor a file with a public key, such as `allowed_signers`. */
async function readFingerprint(given: string): Promise<string> {
  if (/^SHA256:[A-Za-z0-9+/]{43}$/.test(given)) return given
  if (given.startsWith('SHA256:')) throw new CliError(`--key ${given} is no fingerprint: 43 characters follow SHA256:`)
  const text = await readNamed('--key', given)
  if (text.includes('PRIVATE KEY')) throw new CliError(`--key ${given} is a private key: give its fingerprint`)
  const [line] = /ssh-ed25519 [A-Za-z0-9+/]+/.exec(text) ?? []
  const found = PublicKey.safeParse(line)
  if (found.success) return fingerprintOf(found.data)
  throw new CliError(`--key ${given} has no Ed25519 key such as ssh-ed25519 AAAAC3…`)
}

async function readNamed(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new CliError(`${option} ${path} cannot be read: ${reasonOf(error)}`)
  })
}

/** How the key of a signed site came to be trusted. */
type Pinned = 'given' | 'seen_before' | 'first_use' | null

async function verifyPlace(
  { place, isRemote, key, since, isFresh, pins }: Asked,
  signal: AbortSignal,
): Promise<{ summary: VerifySummary; pinned: Pinned; notKept: string | undefined }> {
  const { keepPin, readPin } = await import('../publication/pins.ts')
  const where = isRemote ? addressOf(place) : place
  const pin = pins === undefined ? undefined : await readPin(pins, where)
  let notKept: string | undefined
  const onPin = async (seen: Pin) => {
    if (pins === undefined) return
    await keepPin(pins, where, seen).catch((error: unknown) => {
      notKept = reasonOf(error)
    })
  }
  const onVerified = ({ release, rows, dropped }: ReleaseEntry) =>
    process.stderr.write(`${release}: ${counted(rows, 'row')}, ${dropped ? 'dropped' : 'the same in every format'}\n`)
  const signatures = { now: new Date(), key, pin, isFresh }
  const options = { signal, since, signatures, onPin }
  const summary = isRemote
    ? await (await import('../publication/verify-remote.ts')).verifyUrl(place, {
        ...options,
        onVerified,
        report: createReporter(process.stderr, () => new Date()),
      })
    : await (await import('../publication/verify.ts')).verify(place, { ...options, report: onVerified })
  const isKept = pins !== undefined && notKept === undefined
  const trusted = key !== undefined ? 'given' : pin !== undefined ? 'seen_before' : isKept ? 'first_use' : null
  return { summary, pinned: summary.signature.signed_by === null ? null : trusted, notKept }
}

/** One pin for `https://example.org/data` and `https://example.org/data/`. */
function addressOf(place: string): string {
  const { href } = URL.parse(place) ?? { href: place }
  return href.endsWith('/') ? href : `${href}/`
}

const NAMED = 5

function describe(
  { releases, dropped, files, latest, not_verified, signature }: VerifySummary,
  pinned: Pinned,
): string {
  const inHistory = dropped === 0 ? '' : ` (${dropped} of them in the history alone)`
  return [
    `verified ${counted(releases, 'release')}${inHistory} with ${counted(files, 'file')}; ${latest} is current\n`,
    ...describeSignature(signature, pinned),
    ...(signature.signed_by === null
      ? notVerified(not_verified, 'revision', 'that went with a withdrawn release')
      : onlySigned(not_verified)),
  ].join('')
}

const TRUSTED = {
  given: 'it is or follows from the key that you gave',
  seen_before: 'it is or follows from the key that was seen here before',
  first_use: 'seen here for the first time, and pinned; compare the fingerprint with one from elsewhere',
}

function describeSignature(signature: SignatureSummary, pinned: Pinned): string[] {
  const { signed_by, issued, expires, stale, files, unsigned_releases, taken_as_given, not_compared } = signature
  const given =
    taken_as_given === 0
      ? []
      : [`taken as given: the hashes of ${counted(taken_as_given, 'release')} withdrawn for privacy\n`]
  if (signed_by === null) return ['not signed: nothing shows who made these files\n', ...given]
  return [
    `signed by ${signed_by} at ${issued}, good until ${expires}, with ${counted(files, 'file')}\n`,
    ...(pinned === null ? [] : [`  ${TRUSTED[pinned]}\n`]),
    ...(stale ? [`stale: it was good until ${expires}; there may be newer releases elsewhere\n`] : []),
    ...(unsigned_releases === 0 ? [] : [`unsigned when made: ${counted(unsigned_releases, 'release')}\n`]),
    ...given,
    ...notVerified(not_compared, 'file', 'that the host answers itself, or does not serve as a file'),
  ]
}

/** What cannot be computed again, but is as it was signed. */
function onlySigned(paths: readonly string[]): string[] {
  if (paths.length === 0) return []
  return [
    `as signed, but not computed again: ${counted(paths.length, 'file')} of withdrawn releases or another version\n`,
  ]
}

function notVerified(paths: readonly string[], noun: string, why: string): string[] {
  if (paths.length === 0) return []
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more (--json lists all)` : ''
  return [`not verified: ${counted(paths.length, noun)} ${why}: ${paths.slice(0, NAMED).join(', ')}${more}\n`]
}
