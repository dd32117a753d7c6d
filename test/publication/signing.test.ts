/** Signed folders through their life: the first key, renewals, rotations, withdrawals, stops and new chains. */
import { generateKeyPairSync } from 'node:crypto'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { generateKey } from '../../pipeline/base/sshsig.ts'
import { EVENTS_PATH } from '../../pipeline/contract/published-paths.ts'
import { verifyUrl } from '../../pipeline/publication/verify-remote.ts'
import { crashAfter, LOST, recordSteps } from '../support/crash.ts'
import {
  buildIn,
  copyWorkspace,
  newWorkspace,
  sha256,
  snapshotTree,
  type Workspace,
  withdrawDatesIn,
  withdrawIn,
} from '../support/pipeline.ts'
import { deliver, release, type Use } from '../support/releases.ts'
import { newRuledGateway, RULE, SAFE } from '../support/ruled-gateway.ts'
import { start } from '../support/running-server.ts'
import {
  eventsOf,
  listOf,
  newKeys,
  published,
  signedBy,
  signersOf,
  siteOf,
  story,
  type TestKey,
  walk,
} from '../support/signing.ts'
import { useSmallSample } from '../support/small-sample.ts'

useSmallSample()

const USES: Use[] = [['2025-03-01', 1]]
const MORE: Use[] = [...USES, ['2025-03-02', 5]]
const DATASET = 'datasets/rankings-daily/v1'
const at = (time: string) => `2025-03-10T${time}Z`
const named = (time: string) => `20250310T${time.replaceAll(':', '')}Z`

/** Everything a stranger checks: the list is what lies there, and both signatures are of this key. */
async function expectSigned(workspace: Workspace, { fingerprint }: TestKey): Promise<void> {
  const [site, events] = [await siteOf(workspace), await eventsOf(workspace)]
  expect(await listOf(workspace)).toEqual(await walk(workspace.publicDir))
  expect(await signersOf(workspace)).toEqual([fingerprint, fingerprint])
  expect(site).toMatchObject({
    events: events.length,
    head: events.at(-1)?.hash,
    sha256sums: sha256(await readFile(join(workspace.publicDir, 'SHA256SUMS'))),
  })
}

async function signedWorkspace(): Promise<{ workspace: Workspace; keys: Record<'a' | 'b' | 'ar' | 'br', TestKey> }> {
  const workspace = await newWorkspace()
  const [a, b] = [await newKeys(workspace.root, 'a'), await newKeys(workspace.root, 'b')]
  const signed = signedBy(workspace, a.signing)
  await release(signed, USES, at('10:00:00'))
  return { workspace: signed, keys: { a: a.signing, b: b.signing, ar: a.recovery, br: b.recovery } }
}

it('lists and signs every file, and makes new bytes only for what is new', async () => {
  const { workspace, keys } = await signedWorkspace()
  const { publicDir } = workspace
  expect(await story(workspace, keys)).toEqual([
    'key_added a signing',
    'key_added ar recovery',
    `release ${named('10:00:00')}`,
  ])
  await expectSigned(workspace, keys.a)
  expect(await siteOf(workspace)).toMatchObject({ issued: at('10:00:00'), expires: '2025-04-09T10:00:00Z' })
  expect(await readFile(join(publicDir, 'allowed_signers'), 'utf8')).toBe(
    `publisher namespaces="tokenboard" ${keys.a.line}\n`,
  )
  const before = await published(workspace)

  // A stray file where nobody may add one is neither listed nor a reason to sign.
  await writeFile(join(publicDir, DATASET, 'extra.csv'), 'date\n')
  await mkdir(join(publicDir, DATASET, 'daily/2025-03-01'), { recursive: true })
  await writeFile(join(publicDir, DATASET, 'daily/2025-03-01/r9.json'), 'date\n')
  expect((await buildIn(workspace, at('11:00:00'))).outcome).toBe('unchanged')
  for (const stray of ['extra.csv', 'daily/2025-03-01/r9.json']) await rm(join(publicDir, DATASET, stray))
  expect(await published(workspace)).toEqual(before)

  // A file of one's own is listed though there is no release.
  await writeFile(join(publicDir, 'CNAME'), 'data.example.org\n')
  expect((await buildIn(workspace, at('11:30:00'))).outcome).toBe('unchanged')
  await expectSigned(workspace, keys.a)
  expect(await siteOf(workspace)).toMatchObject({ issued: at('11:30:00') })

  // What was damaged or removed does not become right by being signed again.
  const list = await listOf(workspace)
  await appendFile(join(publicDir, DATASET, 'daily/2025-03-01/r1.json'), 'x')
  await rm(join(publicDir, DATASET, 'daily/2025-03-01/r1.json'))
  await writeFile(join(publicDir, 'robots-more.txt'), 'x\n')
  await buildIn(workspace, at('11:45:00'))
  expect((await listOf(workspace)).filter((line) => !line.endsWith('  robots-more.txt'))).toEqual(list)
})

it('renews site.json alone when half of its time is over', async () => {
  const { workspace, keys } = await signedWorkspace()
  const before = await published(workspace)
  const days = { ...workspace, environment: { ...workspace.environment, SIGNATURE_DAYS: '2' } }
  expect((await buildIn(days, '2025-03-25T09:59:59Z')).outcome).toBe('unchanged')
  expect(await published(workspace)).toEqual(before)
  expect((await buildIn(days, '2025-03-25T10:00:00Z')).outcome).toBe('unchanged')
  const { 'site.json': _site, 'site.json.sig': _sig, ...others } = before
  const after = await published(workspace)
  expect(after).toMatchObject(others)
  expect(Object.keys(after)).toEqual(Object.keys(before))
  expect(await siteOf(workspace)).toMatchObject({ issued: '2025-03-25T10:00:00Z', expires: '2025-03-27T10:00:00Z' })
  await expectSigned(workspace, keys.a)
})

it('signs a folder of before signatures: its releases and withdrawals come before the key', async () => {
  const workspace = await newWorkspace()
  await release(workspace, USES, at('10:00:00'))
  await release(workspace, MORE, at('11:00:00'))
  await withdrawIn(workspace, named('11:00:00'), at('11:30:00'))
  // As versions before 0.14.0 left it.
  await rm(join(workspace.publicDir, EVENTS_PATH))
  const { signing, recovery } = await newKeys(workspace.root, 'a')
  const signed = signedBy(workspace, signing)
  await release(signed, [...USES, ['2025-03-02', 6]], at('12:00:00'))
  expect(await story(signed, { signing, recovery })).toEqual([
    `release ${named('10:00:00')}`,
    `release ${named('11:00:00')}`,
    `withdrawal ${named('11:00:00')}`,
    'key_added signing signing',
    'key_added recovery recovery',
    `release ${named('12:00:00')}`,
  ])
  await expectSigned(signed, signing)
})

describe('a signed folder', () => {
  it('is left as it is by commands without its key', async () => {
    const { workspace, keys } = await signedWorkspace()
    await deliver(workspace, MORE)
    const foreign = await newKeys(workspace.root, 'foreign')
    const inside = join(workspace.publicDir, 'a.key')
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' })
    const files = {
      'openssh.key': `-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0LWtleQ==\n-----END OPENSSH PRIVATE KEY-----\n`,
      'rsa.key': `${rsa}`,
      'empty.key': '',
      'cut.key': generateKey().slice(0, -40),
    }
    const pathOf = (name: string) => join(workspace.root, name)
    for (const [name, text] of Object.entries(files)) await writeFile(pathOf(name), text)
    await writeFile(inside, await readFile(keys.a.file))
    const before = await snapshotTree(workspace.publicDir)
    const bare = signedBy(workspace, undefined)
    const buildWith = (file: string, rotateWith?: string) =>
      buildIn(signedBy(workspace, { file }), at('11:00:00'), {}, { rotateWith })
    const isSigned = `what is published is signed by ${keys.a.fingerprint}`
    const withB = `${keys.b.file} is the key ${keys.b.fingerprint}, and ${isSigned}`
    const refusals: [() => Promise<unknown>, string][] = [
      [() => buildIn(bare, at('11:00:00')), `${isSigned}: set SIGNING_KEY_FILE`],
      [() => buildIn(bare, at('11:00:00'), {}, { newChain: true }), `${isSigned}: set SIGNING_KEY_FILE`],
      [() => withdrawIn(bare, named('10:00:00'), at('11:00:00')), `${isSigned}: set SIGNING_KEY_FILE`],
      [() => withdrawDatesIn(bare, '2025-03-01', at('11:00:00')), `${isSigned}: set SIGNING_KEY_FILE`],
      [() => buildWith(keys.b.file), `${withB}. To change the key`],
      [() => buildWith(keys.b.file, foreign.signing.file), `${withB}, but --rotate-with ${foreign.signing.file} is`],
      [() => buildWith(inside), `${inside} is inside PUBLIC_DIR`],
      [() => buildWith(pathOf('openssh.key')), 'is a key in the format of OpenSSH'],
      [() => buildWith(pathOf('rsa.key')), `${pathOf('rsa.key')} has no Ed25519 key; it must be a PEM of PKCS #8`],
      [() => buildWith(pathOf('empty.key')), `${pathOf('empty.key')} has no Ed25519 key`],
      [() => buildWith(pathOf('cut.key')), `${pathOf('cut.key')} has no Ed25519 key`],
      [() => buildWith(pathOf('none.key')), 'make a key with tokenboard keygen'],
      // The recovery key signs for keys, not for builds.
      [() => buildWith(keys.ar.file), `${keys.ar.file} is the key ${keys.ar.fingerprint}, and ${isSigned}`],
    ]
    for (const [attempt, message] of refusals) {
      const error = await attempt().then(
        () => new Error(`not refused: ${message}`),
        (reason: Error) => reason,
      )
      expect(error.message).toContain(message)
      const secrets = Object.values(files).flatMap((text) =>
        text.split('\n').filter((line) => /^[A-Za-z0-9+/=]+$/.test(line)),
      )
      expect(secrets.filter((line) => error.message.includes(line))).toEqual([])
      expect(await snapshotTree(workspace.publicDir), message).toEqual(before)
    }
  })

  it('is withdrawn from with its key', async () => {
    const { workspace, keys } = await signedWorkspace()
    await release(workspace, MORE, at('11:00:00'))
    const copy = await copyWorkspace(workspace)
    const other = { ...copy, environment: workspace.environment ?? {} }
    await withdrawIn(workspace, named('11:00:00'), at('12:00:00'))
    expect((await story(workspace)).at(-1)).toBe(`withdrawal ${named('11:00:00')}`)
    await expectSigned(workspace, keys.a)

    await withdrawDatesIn(other, '2025-03-02', at('12:00:00'))
    expect((await story(other)).slice(-2)).toEqual([`release ${named('11:00:01')}`, `withdrawal ${named('11:00:00')}`])
    await expectSigned(other, keys.a)
  })

  it('changes its key with the previous key, and its recovery key with the recovery key alone', async () => {
    const { workspace, keys } = await signedWorkspace()
    const c = await newKeys(workspace.root, 'c')
    const all = { ...keys, c: c.signing, cr: c.recovery }
    await buildIn(signedBy(workspace, keys.b), at('11:00:00'), {}, { rotateWith: keys.a.file })
    expect((await story(workspace, all)).slice(3)).toEqual(['key_added b signing', 'key_retired a'])
    await expectSigned(workspace, keys.b)
    await expect(buildIn(workspace, at('11:30:00'))).rejects.toThrow(`signed by ${keys.b.fingerprint}`)

    await buildIn(signedBy(workspace, c.signing), at('12:00:00'), {}, { rotateWith: keys.ar.file })
    expect((await story(workspace, all)).slice(5)).toEqual([
      'key_added c signing',
      'key_retired b',
      'key_added cr recovery',
      'key_retired ar',
    ])
    await expectSigned(workspace, c.signing)
    const before = await published(workspace)
    const notices: string[] = []
    const report = (event: BuildEvent) => notices.push(event.kind === 'notice' ? event.message : '')
    await buildIn(signedBy(workspace, c.signing), at('12:30:00'), { report }, { rotateWith: keys.ar.file })
    expect(await published(workspace)).toEqual(before)
    expect(notices).toContain(`--rotate-with changed nothing: ${c.signing.file} is the key in force`)
  })

  it('goes on without a signature or with a new key if that is accepted, and says so in its events', async () => {
    const { workspace, keys } = await signedWorkspace()
    const bare = signedBy(workspace, undefined)
    await buildIn(bare, at('11:00:00'), {}, { accept: ['unsigned'] })
    const left = Object.keys(await published(workspace))
    expect(left.filter((path) => /^(SHA256SUMS|site\.json|allowed_signers)/.test(path))).toEqual([])
    // It need not be accepted again.
    await release(bare, MORE, at('12:00:00'))
    await buildIn(workspace, at('13:00:00'))
    const told = ['signing_stopped', `release ${named('12:00:00')}`, 'signing_resumed']
    expect((await story(workspace)).slice(3)).toEqual(told)
    await expectSigned(workspace, keys.a)

    await buildIn(signedBy(workspace, keys.b), at('14:00:00'), {}, { accept: ['key_lost'] })
    expect((await story(workspace, keys)).slice(6)).toEqual([
      'key_lost',
      'key_added b signing',
      'key_added br recovery',
    ])
    await expectSigned(workspace, keys.b)
  })

  it('begins a new chain with its key, over its own releases and over those of the synthetic sample', async () => {
    const { workspace, keys } = await signedWorkspace()
    const before = await published(workspace)
    await deliver(workspace, MORE)
    await buildIn(workspace, at('11:00:00'), {}, { newChain: true })
    const begun = ['key_added a signing', 'key_added ar recovery', `release ${named('11:00:00')}`]
    expect(await story(workspace, keys)).toEqual(begun)
    await expectSigned(workspace, keys.a)
    // The previous chain is kept with its signatures.
    const [kept] = Object.entries(await snapshotTree(workspace.dataDir)).filter(
      ([path]) => path.endsWith('/SHA256SUMS.sig') && path.split('/').length === 3,
    )
    expect(kept?.[1]).toBe(before['SHA256SUMS.sig'])

    const sample = signedBy(await newWorkspace(), keys.a)
    await buildIn({ ...sample, environment: { ...sample.environment, SOURCES: '' } }, at('10:00:00'))
    await expectSigned(sample, keys.a)
    await release(sample, USES, at('11:00:00'))
    expect(await story(sample, keys)).toEqual(begun)
    await expectSigned(sample, keys.a)
  })
})

it('says in an event that a release was made under a looser rule', async () => {
  const { signing } = await newKeys((await newWorkspace()).root, 'a')
  const ruled = await newRuledGateway()
  Object.assign(ruled.workspace, { environment: { SIGNING_KEY_FILE: signing.file } })
  await ruled.rule(RULE)
  await ruled.deliver('2025-03-01', { one: SAFE })
  await ruled.build('2025-03-05')
  await ruled.rule({ ...RULE, min_contributors: 2 })
  await ruled.deliver('2025-03-02', { one: SAFE })
  await ruled.build('2025-03-06', { accept: ['looser_disclosure'] })
  expect((await story(ruled.workspace)).slice(-2)).toEqual([
    'release 20250306T120000Z',
    'looser_disclosure 20250306T120000Z',
  ])
})

it('a signed build that stops anywhere is completed by the next one', async () => {
  const { workspace: original, keys } = await signedWorkspace()
  await deliver(original, MORE)
  const again = async () => ({ ...(await copyWorkspace(original)), environment: original.environment ?? {} })
  const { files, steps } = recordSteps()
  await buildIn(await again(), at('11:00:00'), { files })
  const first = steps.indexOf('rename')
  const stops = [0, 1, 2, 3, 4, 5].map((part) => first + Math.floor(((steps.length - 1 - first) * part) / 5))
  for (const last of stops) {
    const workspace = await again()
    await expect(buildIn(workspace, at('11:00:00'), { files: crashAfter(last) })).rejects.toThrow(LOST)
    await buildIn(workspace, at('12:00:00'))
    await expectSigned(workspace, keys.a)
    expect((await story(workspace, keys)).length, `after step ${last}`).toBe(4)
  }
})

it('is verified at a server, which sends the page of a withdrawn release with 410', async () => {
  const { workspace, keys } = await signedWorkspace()
  await release(workspace, MORE, at('11:00:00'))
  await withdrawIn(workspace, named('10:00:00'), at('12:00:00'))
  const { url } = await start(workspace, {})
  const told = { signal: new AbortController().signal, report: () => {}, onVerified: () => {} }
  const signatures = { now: new Date(at('12:00:00')), key: keys.a.fingerprint }
  const { signature } = await verifyUrl(url, { ...told, signatures })
  expect(signature).toMatchObject({ signed_by: keys.a.fingerprint })
  expect(signature.not_compared.filter((path) => path.startsWith('datasets/'))).toEqual([])
})
