/** `tokenboard keygen`: two keys for their owner alone, which replace nothing and are not published. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fingerprintOf, publicLine, readKey } from '../../pipeline/base/sshsig.ts'
import { newWorkspace, runCli, settings, snapshotTree, type Workspace } from '../support/pipeline.ts'
import { release } from '../support/releases.ts'
import { signersOf } from '../support/signing.ts'

const keygen = (workspace: Workspace, ...args: string[]) => runCli(['keygen', ...args], settings(workspace, ''))

it('writes a signing key that builds take, and a recovery key', async () => {
  const workspace = await newWorkspace()
  const { code, stdout, stderr } = await keygen(workspace, '--json')
  expect(code, stderr).toBe(0)
  const made = JSON.parse(stdout)
  const file = join(workspace.dataDir, 'signing.key')
  for (const [role, path] of Object.entries({ signing: file, recovery: `${file}.recovery` })) {
    const pem = await readFile(path, 'utf8')
    const public_key = publicLine(readKey(pem))
    expect(made[role]).toEqual({ file: path, fingerprint: fingerprintOf(public_key), public_key })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(stderr).toContain(made[role].fingerprint)
    for (const line of pem.split('\n').filter((each) => /^[A-Za-z0-9+/=]{20,}$/.test(each))) {
      expect(stdout + stderr).not.toContain(line)
    }
  }
  expect(made.signing.public_key).not.toBe(made.recovery.public_key)
  expect(await readFile(file, 'utf8')).toContain(`\nrecovery: ${made.recovery.public_key}\n`)

  const signed = { ...workspace, environment: { SIGNING_KEY_FILE: file } }
  await release(signed, [['2025-03-01', 1]], '2025-03-10T10:00:00Z')
  expect(await signersOf(signed)).toEqual([made.signing.fingerprint, made.signing.fingerprint])
})

it('replaces no key, and writes none into the public folder', async () => {
  const workspace = await newWorkspace()
  const own = join(workspace.root, 'keys/own.key')
  expect((await keygen(workspace, own)).code).toBe(0)
  const before = await snapshotTree(workspace.root)
  const inside = join(workspace.publicDir, 'own.key')
  const refused = [
    [own, `${own} is there already, and keys are never replaced`],
    [join(workspace.root, 'keys/own.key.recovery'), 'is there already, and keys are never replaced'],
    [inside, `${inside} is inside PUBLIC_DIR`],
  ] as const
  for (const [path, message] of refused) {
    const { code, stderr } = await keygen(workspace, path)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  }
  expect(await snapshotTree(workspace.root)).toEqual(before)
})
