import { readlinkSync, realpathSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { AsOf } from '../../pipeline/contract/as-of.ts'

/** Wrong settings: all of them. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('; '))
    this.faults = faults
  }
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Whose `X-Forwarded-For` to trust: nobody's, the last `n` proxies', or that of proxies at these addresses. */
export type TrustProxy = false | number | string[]

/** Rate limits in requests; 0 is no limit. */
export interface RateLimitSettings {
  perMinute: number
  perDay: number
  /** With bad keys, per client address. */
  badKeysPerMinute: number
}

/** The settings of the server. */
export type ServerConfig = ReturnType<typeof readServerConfig>

const PORT = z
  .string()
  .regex(/^\d{1,5}$/, { error: 'must be a port number, 0 for any' })
  .transform(Number)
  .refine((port) => port <= 65_535, { error: 'must be at most 65535' })

const SQLITE = 'sqlite:'

const DATABASE_URL = z.string().superRefine((url, context) => {
  // Messages name only the scheme, because the rest of the URL may have a password.
  const scheme = /^[a-z]+:/.exec(url)?.[0]
  if (scheme === 'postgres:' || scheme === 'postgresql:') {
    if (!isUrlOfServer(url)) {
      context.addIssue(
        `must have the form ${scheme}//USER:PASSWORD@HOST:PORT/DATABASE, with what is special in a URL written as %40 and its like`,
      )
    }
  } else if (scheme !== SQLITE) {
    const found = scheme ?? 'a URL without a scheme'
    context.addIssue(`must have the form sqlite:PATH or postgres://…; ${found} is not supported`)
  } else if (url === scheme) {
    context.addIssue('must have the form sqlite:PATH; the path is missing')
  }
})

function isUrlOfServer(url: string): boolean {
  // PostgreSQL allows a user without a host, for a socket named in the query. URL.canParse does not.
  return /^[a-z]+:\/\//.test(url) && URL.canParse(url.replace('@/', '@localhost/'))
}

const TRUST_PROXY = z.string().transform((text, context): TrustProxy => {
  if (/^\d+$/.test(text)) return text === '0' ? false : Number(text)
  const addresses = text.split(',').map((address) => address.trim())
  if (addresses.every(isAddressOrNetwork)) return addresses
  context.addIssue('must be a number of proxies or a comma list of IP addresses and networks, such as 10.0.0.0/8')
  return z.NEVER
})

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/', 2)
  const version = isIP(address)
  if (version === 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

const PATH_PREFIX = z
  .string()
  .regex(/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*\/?$/, { error: 'must be a path such as /tokens, without . and ..' })
  .transform((path) => path.replace(/\/$/, ''))

const RATE_LIMIT = z
  .string()
  .regex(/^\d{1,9}$/, { error: 'must be a whole number, 0 for no limit' })
  .transform(Number)

const METRICS_TOKEN = z.string().regex(/^[\x21-\x7e]{16,}$/, {
  error: 'must be at least 16 characters without spaces, such as what `openssl rand -hex 16` prints',
})

/** Settings are text, and so are their defaults. `docs/reference.md` is made from the descriptions. */
export const ServerSettings = z.object({
  HOST: z.string().default('127.0.0.1').describe('The address to listen on.'),
  PORT: PORT.prefault('8080').describe('The port to listen on; 0 is any free one.'),
  DATA_DIR: z.string().default('data'),
  PUBLIC_DIR: z.string().default('public'),
  DATABASE_URL: DATABASE_URL.optional().meta({
    unset: '`sqlite:$DATA_DIR/store.sqlite`',
    description:
      'Where keys and presets are kept: `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE` for [several servers](operations.md#postgresql).',
  }),
  LOG_LEVEL: z
    .enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` })
    .default('info')
    .describe('The least severe messages to log.'),
  AS_OF: AsOf.optional(),
  BOOTSTRAP_KEY: z
    .stringbool({ error: 'must be 1 or 0' })
    .prefault('1')
    .describe('Print a first key when the store is new and `HOST` is loopback; 0 prints none.'),
  TRUST_PROXY: TRUST_PROXY.prefault('0').describe(
    'Whose `X-Forwarded-For` counts: that of the last *n* proxies, or of proxies at a comma list of addresses and networks; 0 trusts nobody.',
  ),
  PATH_PREFIX: PATH_PREFIX.prefault('/').describe(
    'The path below which [a proxy](hosting.md#a-server-below-a-path) has this server. Links in answers begin with it.',
  ),
  RATE_LIMIT_PER_MINUTE: RATE_LIMIT.prefault('0').describe('Requests of a key in a minute; 0 is no limit.'),
  RATE_LIMIT_PER_DAY: RATE_LIMIT.prefault('0').describe(
    'Requests of all keys of an account in 24 hours; 0 is no limit.',
  ),
  RATE_LIMIT_BAD_KEYS_PER_MINUTE: RATE_LIMIT.prefault('0').describe(
    'Requests with bad keys from one address (IPv6: one /64) in a minute; 0 is no limit.',
  ),
  METRICS_TOKEN: METRICS_TOKEN.optional().meta({
    unset: 'none',
    description:
      'Who sends it as `Authorization: Bearer` may read [`/metrics`](operations.md#metrics-and-alerts). Without it, only this machine may.',
  }),
})

/** Reads the settings; `overrides` win over the environment. Throws `ConfigError` that lists every wrong one. */
export function readServerConfig(
  overrides: Record<string, string | undefined> = {},
  environment: Record<string, string | undefined> = process.env,
) {
  const entries = [...Object.entries(environment), ...Object.entries(overrides)].filter(([, value]) => value)
  const given = Object.fromEntries(entries)
  const parsed = ServerSettings.safeParse(given)
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map((issue) => describe(issue, given)))
  const settings = parsed.data
  const databaseUrl = settings.DATABASE_URL ?? `${SQLITE}${settings.DATA_DIR}/store.sqlite`
  if (databaseUrl.startsWith(SQLITE)) {
    checkNotPublished('the store', databaseUrl.slice(SQLITE.length), settings.PUBLIC_DIR)
  }
  checkNotPublished('DATA_DIR', settings.DATA_DIR, settings.PUBLIC_DIR)
  return {
    host: settings.HOST,
    port: settings.PORT,
    dataDir: settings.DATA_DIR,
    publicDir: settings.PUBLIC_DIR,
    databaseUrl,
    logLevel: settings.LOG_LEVEL,
    asOf: settings.AS_OF,
    bootstrapKey: settings.BOOTSTRAP_KEY,
    trustProxy: settings.TRUST_PROXY,
    /** Empty, or a path without a slash at its end. */
    pathPrefix: settings.PATH_PREFIX,
    rateLimits: {
      perMinute: settings.RATE_LIMIT_PER_MINUTE,
      perDay: settings.RATE_LIMIT_PER_DAY,
      badKeysPerMinute: settings.RATE_LIMIT_BAD_KEYS_PER_MINUTE,
    },
    /** Undefined if only this machine may read `/metrics`. */
    metricsToken: settings.METRICS_TOKEN,
  }
}

/** These may hold a password or a key. */
const SECRET = ['DATABASE_URL', 'BOOTSTRAP_KEY', 'METRICS_TOKEN']

function describe({ path, message }: z.core.$ZodIssue, given: Record<string, string | undefined>): string {
  const name = String(path[0])
  return `${name} ${message}${SECRET.includes(name) ? '' : `, not ${JSON.stringify(given[name])}`}`
}

/** Everything in the public folder is served. The store and the data folder are private, so they must be elsewhere. */
function checkNotPublished(what: string, path: string, publicDir: string): void {
  const below = relative(realPath(publicDir), realPath(path))
  if (below.split(sep)[0] === '..' || isAbsolute(below)) return
  throw new ConfigError([`${what} ${path} is inside PUBLIC_DIR ${publicDir}, where everyone can read it`])
}

/** The path with all links resolved. It need not exist or be readable. */
function realPath(path: string): string {
  const whole = resolve(path)
  try {
    return realpathSync.native(whole)
  } catch {
    if (dirname(whole) === whole) return whole
    const target = linkTarget(whole)
    return target === undefined ? join(realPath(dirname(whole)), basename(whole)) : realPath(target)
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return resolve(realPath(dirname(path)), readlinkSync(path))
  } catch {
    return undefined
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
