import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { counted } from '../base/numbers.ts'
import type { ReleaseEntry } from '../contract/manifest.ts'
import type { VerifySummary } from '../publication/verify.ts'
import { readBase } from './copy-address.ts'
import { withInterrupt } from './interrupt.ts'
import { createReporter } from './reporter.ts'

export const verify = new Command('verify')
  .description('Verify the published files: checksums, hashes, equal rows in every format, the chain.')
  .argument('[place]', 'a folder, or the http(s) address of one on any host; PUBLIC_DIR by default')
  .option('--base <url>', 'the address that a copy was given by export --base', readBase)
  .option('--json', 'print what was verified as one JSON object on stdout')
  .addHelpText(
    'after',
    `
After a withdrawal, revisions of days and months that came with the withdrawn release cannot be verified. The output names
them (--json: not_verified). After an upgrade it also names pages that the previous version made, until the next build
(--json: outdated_pages). Anything else that is wrong ends with exit code 1. Settings (environment): PUBLIC_DIR.`,
  )
  .action(async (place, { base, json }) => {
    const summary = await withInterrupt((signal) => verifyPlace(place ?? readPipelineConfig().publicDir, base, signal))
    if (json === true) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else process.stderr.write(describe(summary))
  })

const NAMED = 5

function describe({ releases, dropped, files, latest, not_verified, outdated_pages }: VerifySummary): string {
  const inHistory = dropped === 0 ? '' : ` (${dropped} of them in the history alone)`
  return [
    `verified ${counted(releases, 'release')}${inHistory} with ${counted(files, 'file')}; ${latest} is current\n`,
    ...notVerified(not_verified, 'revision', 'that went with a withdrawn release'),
    ...notVerified(outdated_pages, 'page', 'made by another version; the next build replaces them'),
  ].join('')
}

function notVerified(paths: readonly string[], noun: string, why: string): string[] {
  if (paths.length === 0) return []
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more (--json lists all)` : ''
  return [`not verified: ${counted(paths.length, noun)} ${why}: ${paths.slice(0, NAMED).join(', ')}${more}\n`]
}

async function verifyPlace(place: string, base: string | undefined, signal: AbortSignal): Promise<VerifySummary> {
  const onVerified = ({ release, rows, dropped }: ReleaseEntry) =>
    process.stderr.write(`${release}: ${counted(rows, 'row')}, ${dropped ? 'dropped' : 'the same in every format'}\n`)
  if (!/^https?:/i.test(place)) {
    const module = await import('../publication/verify.ts')
    return module.verify(place, { signal, report: onVerified, base })
  }
  const module = await import('../publication/verify-remote.ts')
  const report = createReporter(process.stderr, () => new Date())
  return module.verifyUrl(place, { signal, report, onVerified, base })
}
