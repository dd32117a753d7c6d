import type { BucketLogin } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { withoutSecrets } from '../base/prose.ts'

export interface BucketAddress {
  bucket: string
  /** Empty, or with a slash at its end. */
  prefix: string
}

const ADDRESS = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]+)(?:\/([^?#]*))?$/

/** Reads `s3://BUCKET[/PREFIX]`. Throws `CliError`. */
export function readBucketAddress(text: string): BucketAddress {
  const [, bucket, path = ''] = ADDRESS.exec(text) ?? []
  const prefix = path.replace(/\/$/, '')
  const isPath = prefix === '' || prefix.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
  if (bucket === undefined || !isPath) {
    throw new CliError(
      `${withoutSecrets(text)} does not have the form s3://BUCKET or s3://BUCKET/PREFIX, such as s3://data.example.org/tokens`,
    )
  }
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

/** The address as a person writes it. */
export function addressOf({ bucket, prefix }: BucketAddress): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, '')
}

/** The URL of a key, or of the bucket. Throws `CliError` for an endpoint that has more than a host and a path. */
export function urlOf({ bucket }: BucketAddress, { region, endpoint }: BucketLogin, key = ''): URL {
  const names = key.split('/')
  // In a URL these segments lead to another key.
  if (names.some((name) => name === '.' || name === '..')) throw new Error(`${key} has a segment . or ..`)
  const path = names.map(encodeStrictly).join('/')
  if (endpoint !== undefined) return new URL(`${baseOf(endpoint)}/${bucket}/${path}`)
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  // The certificate of *.s3.amazonaws.com does not cover names with dots.
  return new URL(bucket.includes('.') ? `https://${host}/${bucket}/${path}` : `https://${bucket}.${host}/${path}`)
}

function baseOf(endpoint: string): string {
  const { origin, pathname, username, password, search, hash } = new URL(endpoint)
  if (username !== '' || password !== '' || search !== '' || hash !== '') {
    throw new CliError('AWS_ENDPOINT_URL has more than a host and a path; give the key in AWS_ACCESS_KEY_ID')
  }
  return origin + pathname.replace(/\/$/, '')
}

/** Encodes all that signatures need encoded. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
}
