import { dirname, resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { isInside, isThere, realFiles } from '../base/files.ts'
import { fingerprintOf, generateKey, publicLine, readKey } from '../base/sshsig.ts'
import { RECOVERY_LINE } from '../publication/signing.ts'
import { say } from './output.ts'

const RECOVERY_ENDING = '.recovery'

export const keygen = new Command('keygen')
  .description('Make a signing key for the builds, and a recovery key to keep offline.')
  .argument('[file]', 'the new file of the signing key; DATA_DIR/signing.key by default')
  .option('--json', 'print the files and fingerprints as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Builds sign what they publish with the key that SIGNING_KEY_FILE names. The recovery key, in a file beside it that ends
with ${RECOVERY_ENDING}, signs for a new signing key if the first is lost or stolen: move it to another place. Tell the
fingerprint of the signing key elsewhere, such as in a paper or on your company's page. Settings (environment): DATA_DIR,
PUBLIC_DIR. More: docs/publishing.md.`,
  )
  .action(async (file, { json = false }) => {
    const { dataDir, publicDir } = readPipelineConfig()
    const made = await makeKeys(resolve(file ?? `${dataDir}/signing.key`), resolve(publicDir))
    say(describe(made))
    if (json) process.stdout.write(`${JSON.stringify(made)}\n`)
  })

interface MadeKeys {
  signing: { file: string; fingerprint: string; public_key: string }
  recovery: MadeKeys['signing']
}

/** Writes two new keys, for their owner alone. Throws `CliError` if a file is there already, or would be published. */
async function makeKeys(file: string, publicDir: string): Promise<MadeKeys> {
  if (isInside(file, publicDir)) throw new CliError(`${file} is inside PUBLIC_DIR, where everything is published`)
  const places = { signing: file, recovery: `${file}${RECOVERY_ENDING}` }
  for (const place of Object.values(places)) {
    if (await isThere(place))
      throw new CliError(`${place} is there already, and keys are never replaced; name a new file`)
  }
  const [signing, recovery] = [generateKey(), generateKey()]
  const lineOf = (pem: string) => publicLine(readKey(pem))
  await realFiles.makeFolder(dirname(file))
  await realFiles.write(places.recovery, recovery, true)
  await realFiles.write(places.signing, `${signing}${RECOVERY_LINE}${lineOf(recovery)}\n`, true)
  await realFiles.flush(dirname(file))
  const factsOf = (place: string, pem: string) => {
    return { file: place, fingerprint: fingerprintOf(lineOf(pem)), public_key: lineOf(pem) }
  }
  return { signing: factsOf(places.signing, signing), recovery: factsOf(places.recovery, recovery) }
}

function describe({ signing, recovery }: MadeKeys): string {
  return (
    `signing key   ${signing.file}\n  fingerprint ${signing.fingerprint}\n` +
    `recovery key  ${recovery.file}\n  fingerprint ${recovery.fingerprint}\n` +
    `next          set SIGNING_KEY_FILE=${signing.file}, move the recovery key offline,\n` +
    '              and tell the fingerprint of the signing key where readers look: a paper, your own page\n'
  )
}
