import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { RateLimitSettings } from '../base/config.ts'
import { ApiError } from '../base/errors.ts'
import { Quota, type QuotaState } from '../base/quota.ts'
import { callerOf } from './auth.ts'

export const NO_RATE_LIMITS: RateLimitSettings = { perMinute: 0, perDay: 0, badKeysPerMinute: 0 }

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

/** Limits memory: clients can use any number of addresses. The oldest is dropped. */
const MOST_ADDRESSES = 100_000

interface QuotaUse {
  of: 'key' | 'account' | 'address'
  quota: Quota
  name: string
}

/** Counts in this process: each has limits of its own. `onRefused` gets what the quotas that are used up are of. */
export function rateLimits(
  settings: RateLimitSettings,
  clock: () => Date,
  onRefused: (of: QuotaUse['of']) => void = () => {},
) {
  const ofKey = new Quota(settings.perMinute, MINUTE_SECONDS)
  const ofAccount = new Quota(settings.perDay, DAY_SECONDS)
  const ofAddress = new Quota(settings.badKeysPerMinute, MINUTE_SECONDS, MOST_ADDRESSES)
  const isLimited = settings.perMinute > 0 || settings.perDay > 0

  /** Counts a use in every quota, or in none if one is used up. */
  function spend(uses: readonly QuotaUse[], reply: FastifyReply): void {
    const limited = uses.filter(({ quota }) => quota.limit > 0)
    if (limited.length === 0) return
    const now = clock().getTime()
    const exhausted = limited.filter(({ quota, name }) => quota.state(name, now).remaining === 0)
    if (exhausted.length === 0) {
      reply.headers(
        describe(
          limited.map(({ quota, name }) => quota.use(name, now)),
          limited,
        ),
      )
      return
    }
    const states = exhausted.map(({ quota, name }) => quota.state(name, now))
    reply.headers(describe(states, limited))
    reply.header('retry-after', Math.max(...states.map(({ resetSeconds }) => resetSeconds)))
    for (const { of } of exhausted) onRefused(of)
    throw new ApiError(429, 'Rate limit exceeded')
  }

  const countRequest: onRequestHookHandler = (request, reply, done) => {
    const { id, creator_user_id } = callerOf(request)
    const uses: QuotaUse[] = [
      { of: 'key', quota: ofKey, name: id },
      { of: 'account', quota: ofAccount, name: creator_user_id },
    ]
    spend(uses, reply)
    done()
  }

  return {
    /** A hook after `authenticate`: counts the request for its key and account, or throws the 429. None without limits. */
    countRequest: isLimited ? countRequest : undefined,
    /** Counts a bad key for its client address, or throws the 429. */
    countBadKey: (request: FastifyRequest, reply: FastifyReply) =>
      spend([{ of: 'address', quota: ofAddress, name: networkOf(request.ip) }], reply),
  }
}

/**
 * The fields of drafts 3 to 6 of draft-ietf-httpapi-ratelimit-headers, which clients support; later drafts use one
 * `RateLimit` field that hardly any client reads. The fields describe the quota that ends first, the policy all.
 */
function describe(states: readonly QuotaState[], limited: readonly QuotaUse[]): Record<string, string | number> {
  const [nearest] = [...states].sort((a, b) => a.remaining - b.remaining || b.resetSeconds - a.resetSeconds)
  if (nearest === undefined) return {}
  return {
    'ratelimit-limit': nearest.limit,
    'ratelimit-remaining': nearest.remaining,
    'ratelimit-reset': nearest.resetSeconds,
    'ratelimit-policy': limited.map(({ quota }) => `${quota.limit};w=${quota.seconds}`).join(', '),
  }
}

const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i

/** The unit of counting: an IPv4 address, or the /64 network of an IPv6 address, which one customer usually has. */
export function networkOf(address: string): string {
  const plain = address.replace(IPV4_IN_IPV6, '').replace(/%.*$/, '')
  if (isIPv4(plain)) return plain
  // Proxies may forward any text. It shares one counter, so nobody gets a new one per request.
  if (!isIPv6(plain)) return 'unknown'
  const [head = '', tail] = canonical(plain).split('::')
  const left = groupsOf(head)
  const right = groupsOf(tail ?? '')
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}

/** The canonical spelling of an IPv6 address (RFC 5952). */
function canonical(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':')
}
