import { createHash } from 'node:crypto'
import { CliError, reasonOfFetch } from '../base/errors.ts'
import { withoutSecrets } from '../base/prose.ts'
import type { Pause } from '../base/retrying.ts'
import { sideBySide } from '../base/side-by-side.ts'
import {
  CATALOG_FILE,
  COVERAGE_PATH,
  cacheControl,
  EVENTS_PATH,
  FEED_FILES,
  INDEX_PATH,
  LATEST_PATH,
  mediaType,
  POINTER_PATH,
  publishedPath,
  SIGNED_SITE,
} from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import type { LocalFile } from './local-file.ts'

/** What a host was seen to send. */
export interface Proof {
  url: string
  /** How many files it sends with the right bytes and headers. */
  files: number
  /** The first that is wrong. */
  fault: string | null
  /** Addresses of deleted files that it still sends, from a cache. */
  still_served: string[]
}

export interface ProofOptions {
  files: readonly LocalFile[]
  deleted: readonly string[]
  isSynthetic: boolean
  signal: AbortSignal
  pause: Pause
}

/** Caches in front of a bucket may have pointers for a minute. */
const PAUSE_MS = 5_000
const TRIES = 18
/** A host that cannot be reached is not waited for as long. */
const TRIES_WITHOUT_ANSWER = 4

/** Milliseconds for one file. */
const PATIENCE_MS = 30_000

const LARGEST_BYTES = 2 ** 24
const MOST_DELETED = 100

const POINTERS = new Set<string>([
  INDEX_PATH,
  EVENTS_PATH,
  COVERAGE_PATH,
  POINTER_PATH,
  `${LATEST_PATH}/${MANIFEST_FILE}`,
  CATALOG_FILE,
  SIGNED_SITE,
  'index.html',
  ...Object.values(FEED_FILES),
])

interface Fault {
  message: string
  hasAnswer: boolean
}

/** Reads pointers and a file of each kind over HTTP, again while a cache may have an older one. */
export async function proveOverHttp(url: string, options: ProofOptions): Promise<Proof> {
  const { files, deleted, isSynthetic, signal, pause } = options
  const base = readPublicUrl(url)
  const chosen = filesToProve(files)
  let pending = chosen
  let fault: Fault | undefined
  for (let attempt = 1; ; attempt += 1) {
    const faults = await sideBySide(pending, (file) => faultOf(base, file, { isSynthetic, signal }))
    pending = pending.filter((_, position) => faults[position] !== undefined)
    fault = faults.find((each) => each !== undefined)
    if (fault === undefined || attempt >= (fault.hasAnswer ? TRIES : TRIES_WITHOUT_ANSWER)) break
    await pause(PAUSE_MS, signal)
  }
  const isServed = await sideBySide(deleted.slice(0, MOST_DELETED), (path) => isSent(urlIn(base, path), signal))
  const still_served = deleted.filter((_, position) => isServed[position] === true).map((path) => urlIn(base, path))
  return { url: base, files: chosen.length - pending.length, fault: fault?.message ?? null, still_served }
}

/** The address of `--url` with a slash at its end. Throws `CliError` if it has more than a host and a path. */
export function readPublicUrl(text: string): string {
  const base = publicBase(text)
  if (base !== undefined) return base
  throw new CliError(`--url ${withoutSecrets(text)} is not the http(s) address of the published files`)
}

/** The same, undefined if it has more than a host and a path. */
export function publicBase(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  if (`${url.search}${url.hash}${url.username}${url.password}` !== '') return undefined
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

export function urlIn(base: string, path: string): string {
  return base + path.split('/').map(encodeURIComponent).join('/')
}

/** The pointers and the first page, and the smallest file of each ending and cache class. */
function filesToProve(files: readonly LocalFile[]): LocalFile[] {
  const kindOf = ({ path }: LocalFile) => `${publishedPath(path).cache} ${mediaType(path)}`
  const small = files.filter(({ bytes }) => bytes <= LARGEST_BYTES)
  const kinds = Map.groupBy(small, kindOf)
  const ofKinds = [...kinds.values()].map((each) => each.toSorted((a, b) => a.bytes - b.bytes)[0])
  return small.filter((file) => POINTERS.has(file.path) || ofKinds.includes(file))
}

async function faultOf(
  base: string,
  { path, sha256 }: LocalFile,
  { isSynthetic, signal }: { isSynthetic: boolean; signal: AbortSignal },
): Promise<Fault | undefined> {
  const url = urlIn(base, path)
  try {
    const response = await ask(url, signal)
    const sum = createHash('sha256')
    for await (const chunk of response.body ?? []) sum.update(chunk)
    const what = differenceOf(response, sum.digest('hex'), {
      sha256,
      type: mediaType(path),
      cache: cacheControl(path, { isSynthetic }),
    })
    return what === undefined ? undefined : { message: `${url} ${what}`, hasAnswer: true }
  } catch (error) {
    signal.throwIfAborted()
    return { message: `${url} cannot be fetched: ${reasonOfFetch(error)}`, hasAnswer: false }
  }
}

/** Asks for the bytes as they are in the bucket, without caches where they obey. */
function ask(url: string, signal: AbortSignal): Promise<Response> {
  const headers = { 'Accept-Encoding': 'identity', 'Cache-Control': 'no-cache' }
  return fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) })
}

function differenceOf(
  { status, headers }: Response,
  found: string,
  { sha256, type, cache }: { sha256: string; type: string; cache: string },
): string | undefined {
  if (status !== 200) return `is answered with ${status}`
  if (found !== sha256) return 'has other bytes than those that were uploaded'
  const sent = { 'content-type': type, 'cache-control': cache }
  for (const [name, expected] of Object.entries(sent)) {
    const value = headers.get(name) ?? ''
    if (plain(value) !== plain(expected))
      return `is sent with ${name} ${JSON.stringify(value)} in place of ${JSON.stringify(expected)}`
  }
  return undefined
}

function plain(header: string): string {
  return header.toLowerCase().replaceAll(' ', '')
}

async function isSent(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await ask(url, signal)
    await response.body?.cancel()
    return response.status === 200
  } catch {
    signal.throwIfAborted()
    return false
  }
}
