/**
 * Signatures that a stock `ssh-keygen -Y verify` accepts: Ed25519 keys and SHA-512, in the format that OpenSSH's
 * PROTOCOL.sshsig defines.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign, verify } from 'node:crypto'

const MAGIC = Buffer.from('SSHSIG')
const ALGORITHM = 'ssh-ed25519'
const HASH = 'sha512'
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const LINE = 70

/** A new key, as PEM of PKCS #8. */
export function generateKey(): string {
  return `${generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })}`
}

/** Reads a PEM. Throws an error if it is not an Ed25519 key. */
export function readKey(pem: string): KeyObject {
  const key = createPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`it is a key of the kind ${key.asymmetricKeyType}`)
  return key
}

/** The public half as OpenSSH writes it, without a comment. */
export function publicLine(key: KeyObject): string {
  const raw = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url')
  return `${ALGORITHM} ${Buffer.concat([field(ALGORITHM), field(raw)]).toString('base64')}`
}

/** The fingerprint of a public key, as `ssh-keygen -l` prints it. */
export function fingerprintOf(line: string): string {
  return `SHA256:${hash('sha256', blobOf(line), 'base64').replace(/=$/, '')}`
}

/** Signs bytes for a namespace, and returns the signature as armored text. */
export function signSsh(bytes: string | Uint8Array, key: KeyObject, namespace: string): string {
  const raw = sign(null, signedData(bytes, namespace), key)
  const version = Buffer.from([0, 0, 0, 1])
  const body = Buffer.concat([
    MAGIC,
    version,
    field(blobOf(publicLine(key))),
    field(namespace),
    field(''),
    field(HASH),
    field(Buffer.concat([field(ALGORITHM), field(raw)])),
  ])
  const lines = body.toString('base64').replace(new RegExp(`.{${LINE}}(?=.)`, 'g'), '$&\n')
  return `-----BEGIN SSH SIGNATURE-----\n${lines}\n-----END SSH SIGNATURE-----\n`
}

/**
 * The public key that signed these bytes for this namespace; undefined if none did. It says nothing about whether the key
 * is to be trusted.
 */
export function signerOf(bytes: string | Uint8Array, armored: string, namespace: string): string | undefined {
  const [, base64 = ''] =
    /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----\n$/.exec(armored) ?? []
  const body = Buffer.from(base64, 'base64')
  // The decoder skips what is not base64.
  if (body.toString('base64') !== base64.replaceAll('\n', '')) return undefined
  const head = MAGIC.length + 4
  if (!body.subarray(0, head).equals(Buffer.concat([MAGIC, Buffer.from([0, 0, 0, 1])]))) return undefined
  const [blob, space, reserved, hashName, signature, ...more] = fieldsOf(body.subarray(head)) ?? []
  const [keyAlgorithm, raw, ...afterKey] = fieldsOf(blob) ?? []
  const [algorithm, value, ...afterValue] = fieldsOf(signature) ?? []
  if ([...more, ...afterKey, ...afterValue].length > 0) return undefined
  const isOurs = [keyAlgorithm, algorithm].every((each) => each?.toString() === ALGORITHM)
  if (!isOurs || raw?.length !== KEY_BYTES || value?.length !== SIGNATURE_BYTES) return undefined
  if (space?.toString() !== namespace || reserved?.length !== 0 || hashName?.toString() !== HASH) return undefined
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') } })
  return verify(null, signedData(bytes, namespace), key, value) ? `${ALGORITHM} ${blob?.toString('base64')}` : undefined
}

function signedData(bytes: string | Uint8Array, namespace: string): Buffer {
  return Buffer.concat([MAGIC, field(namespace), field(''), field(HASH), field(hash(HASH, bytes, 'buffer'))])
}

function blobOf(line: string): Buffer {
  return Buffer.from(line.split(' ')[1] ?? '', 'base64')
}

/** A string of the SSH protocol (RFC 4251, section 5): four bytes of length, and the bytes. */
function field(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** The strings that bytes consist of; undefined if they do not. */
function fieldsOf(bytes: Buffer | undefined): Buffer[] | undefined {
  const fields: Buffer[] = []
  for (let rest = bytes ?? Buffer.alloc(0); rest.length > 0; ) {
    const end = rest.length < 4 ? Number.POSITIVE_INFINITY : 4 + rest.readUInt32BE()
    if (end > rest.length) return undefined
    fields.push(rest.subarray(4, end))
    rest = rest.subarray(end)
  }
  return fields
}
