/** SSH signatures; `test/system/signing.test.ts` asks ssh-keygen about them. */
import { createPrivateKey, generateKeyPairSync, hash, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fingerprintOf, generateKey, publicLine, readKey, signerOf, signSsh } from '../../pipeline/base/sshsig.ts'

const KEY = readKey(generateKey())
const TEXT = 'what is signed\n'

/** Section 7.1 of RFC 8032. */
const RFC_8032 = {
  secret: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  public: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
}

/** GitHub's host key and the fingerprint that its documentation has. */
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const HOST_FINGERPRINT = 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU'

it('writes public keys and fingerprints as OpenSSH does', () => {
  expect(fingerprintOf(HOST_KEY)).toBe(HOST_FINGERPRINT)
  const key = createPrivateKey({
    key: Buffer.from(`302e020100300506032b657004220420${RFC_8032.secret}`, 'hex'),
    format: 'der',
    type: 'pkcs8',
  })
  const blob = Buffer.concat([field('ssh-ed25519'), field(Buffer.from(RFC_8032.public, 'hex'))])
  expect(publicLine(key)).toBe(`ssh-ed25519 ${blob.toString('base64')}`)
})

it('reads no key of another algorithm', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  expect(() => readKey(`${rsa.export({ format: 'pem', type: 'pkcs8' })}`)).toThrow('it is a key of the kind rsa')
})

describe('a signature', () => {
  const armored = signSsh(TEXT, KEY, 'tokenboard')

  it('tells its signer, for the bytes and the namespace that were signed alone', () => {
    expect(signerOf(TEXT, armored, 'tokenboard')).toBe(publicLine(KEY))
    expect(signSsh(TEXT, KEY, 'tokenboard')).toBe(armored)
    expect(signerOf(TEXT, armored, 'git')).toBeUndefined()
    expect(signerOf(TEXT.trimEnd(), armored, 'tokenboard')).toBeUndefined()
    expect(signerOf('', armored, 'tokenboard')).toBeUndefined()
  })

  it('has no signer if one bit of it is another', () => {
    const body = bodyOf(armored)
    for (let at = 0; at < body.length * 8; at += 7) {
      const flipped = Buffer.from(body)
      flipped.writeUInt8(flipped.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3)
      expect(signerOf(TEXT, armor(flipped), 'tokenboard'), `bit ${at}`).toBeUndefined()
    }
  })

  it('has no signer if its text was cut or prolonged', () => {
    const [begin, ...rest] = armored.split('\n')
    const texts = {
      empty: '',
      'without its end': armored.slice(0, -8),
      'without a line': [begin, ...rest.slice(1)].join('\n'),
      'with text before it': `hello\n${armored}`,
      'with text after it': `${armored}hello\n`,
      twice: `${armored}${armored}`,
      'with more base64': armored.replace('\n-----END', 'AAAA\n-----END'),
      'with base64 after its padding': armored.replace('\n-----END', '==AAAA\n-----END'),
      'with a stray character': armored.replace('\nU1NI', '\n=U1NI'),
    }
    for (const [what, text] of Object.entries(texts)) {
      expect(signerOf(TEXT, text, 'tokenboard'), what).toBeUndefined()
    }
  })

  /** Each is right but for one thing, and its Ed25519 signature is valid. */
  it('has no signer if it says something else than it may', () => {
    expect(signerOf(TEXT, forged({}), 'tokenboard')).toBe(publicLine(KEY))
    const variants: Record<string, Parameters<typeof forged>[0]> = {
      magic: { magic: 'SSHSIX' },
      version: { version: 2 },
      'another key algorithm': { keyAlgorithm: 'ssh-ed25518' },
      'another signature algorithm': { algorithm: 'ssh-rsa' },
      'another hash': { hashName: 'sha256' },
      'reserved bytes': { reserved: 'x' },
      'a short key': { cutKey: 1 },
      'a short signature': { cutSignature: 1 },
      'bytes after the last field': { after: Buffer.from([0]) },
      'a field after the last': { after: field('more') },
      'a length beyond the end': { after: Buffer.from([0, 0, 1, 0]) },
      'a negative length': { after: Buffer.from([255, 255, 255, 255]) },
      'a field after the key': { afterKey: field('more') },
      'a field after the signature': { afterSignature: field('more') },
    }
    for (const [what, change] of Object.entries(variants)) {
      expect(signerOf(TEXT, forged(change), 'tokenboard'), what).toBeUndefined()
    }
  })
})

const NONE: Buffer = Buffer.alloc(0)
const PLAIN = {
  ...{ magic: 'SSHSIG', version: 1, hashName: 'sha512', reserved: '' },
  ...{ keyAlgorithm: 'ssh-ed25519', algorithm: 'ssh-ed25519', cutKey: 0, cutSignature: 0 },
  ...{ after: NONE, afterKey: NONE, afterSignature: NONE },
}

/** What PROTOCOL.sshsig defines, with a change. */
function forged(change: Partial<typeof PLAIN>): string {
  const { magic, version, hashName, reserved, keyAlgorithm, algorithm, ...of } = { ...PLAIN, ...change }
  const own = Buffer.from(publicLine(KEY).split(' ')[1] ?? '', 'base64').subarray(-32)
  const digest = hash(hashName, TEXT, 'buffer')
  const signed = [Buffer.from('SSHSIG'), field('tokenboard'), field(reserved), field(hashName), field(digest)]
  const value = sign(null, Buffer.concat(signed), KEY)
  const raw = (bytes: Buffer, cut: number) => field(bytes.subarray(0, bytes.length - cut))
  const body = [
    Buffer.from(magic),
    Buffer.from([0, 0, 0, version]),
    field(Buffer.concat([field(keyAlgorithm), raw(own, of.cutKey), of.afterKey])),
    field('tokenboard'),
    field(reserved),
    field(hashName),
    field(Buffer.concat([field(algorithm), raw(value, of.cutSignature), of.afterSignature])),
    of.after,
  ]
  return armor(Buffer.concat(body))
}

function field(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function armor(body: Buffer): string {
  const lines = body.toString('base64').match(/.{1,70}/g) ?? []
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`
}

function bodyOf(armored: string): Buffer {
  return Buffer.from(armored.split('\n').slice(1, -2).join(''), 'base64')
}
