/** Stock tools agree: ssh-keygen accepts our signatures and we its own, and sha256sum every file of a signed copy. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { fingerprintOf, publicLine, readKey, signerOf } from '../../pipeline/base/sshsig.ts'
import { exportPublished } from '../../pipeline/publication/export.ts'
import { temporaryFolder } from '../support/folder.ts'
import { newWorkspace, settings } from '../support/pipeline.ts'
import { release } from '../support/releases.ts'
import { newKeys, signedBy } from '../support/signing.ts'
import { isInstalled, skipLoudly } from './hosting.ts'

const isHere = isInstalled('sh', '-c', 'command -v ssh-keygen && command -v sha256sum')

/** Runs a command in a folder. Throws an error with what it says if it fails. */
function run(folder: string, command: string): string {
  return execFileSync('sh', ['-c', `${command} 2>&1`], { cwd: folder, stdio: 'pipe', encoding: 'utf8' })
}

const VERIFY = (file: string) =>
  `ssh-keygen -Y verify -f allowed_signers -I publisher -n tokenboard -s ${file}.sig < ${file}`

if (!isHere) {
  it('ssh-keygen or sha256sum is not installed here', ({ skip }) => {
    skipLoudly(skip, 'ssh-keygen or sha256sum is not installed, so no stock tool checked a signature')
  })
}

describe.runIf(isHere)('with stock tools alone', () => {
  it.each([true, false])('a signed copy is proved, and an altered one is not (links: %s)', async (symlinks) => {
    const workspace = await newWorkspace()
    const { signing } = await newKeys(workspace.root, 'a')
    const signed = signedBy(workspace, signing)
    await release(signed, [['2025-03-01', 1]], '2025-03-10T10:00:00Z')
    const folder = join(workspace.root, 'copy')
    const { signal } = new AbortController()
    const effects = { now: () => new Date(0), report: () => {}, signal, files: realFiles }
    await exportPublished(readPipelineConfig(settings(signed, '')), effects, { folder, symlinks })
    for (const file of ['SHA256SUMS', 'site.json']) {
      expect(run(folder, VERIFY(file))).toContain(`with ED25519 key ${signing.fingerprint}`)
    }
    expect(run(folder, 'sha256sum --quiet --strict -c SHA256SUMS')).toBe('')
    await appendFile(join(folder, 'index.html'), ' ')
    await appendFile(join(folder, 'site.json'), ' ')
    expect(() => run(folder, 'sha256sum --quiet --strict -c SHA256SUMS')).toThrow()
    expect(() => run(folder, VERIFY('site.json'))).toThrow()
  })

  it('we accept what ssh-keygen signs, and it knows our keys by the same fingerprint', async () => {
    const folder = await temporaryFolder()
    run(folder, 'ssh-keygen -q -t ed25519 -N "" -C "" -f theirs')
    await writeFile(join(folder, 'text'), 'what is signed\n')
    run(folder, 'ssh-keygen -q -Y sign -f theirs -n tokenboard text')
    const line = readFileSync(join(folder, 'theirs.pub'), 'utf8').trim()
    const signature = readFileSync(join(folder, 'text.sig'), 'utf8')
    expect(signerOf('what is signed\n', signature, 'tokenboard')).toBe(line)
    expect(signerOf('what is signed\n', signature, 'git')).toBeUndefined()

    const { signing } = await newKeys(folder, 'ours')
    await writeFile(join(folder, 'ours.pub'), `${publicLine(readKey(readFileSync(signing.file, 'utf8')))}\n`)
    expect(run(folder, 'ssh-keygen -l -f ours.pub')).toContain(fingerprintOf(signing.line))
  })
})
