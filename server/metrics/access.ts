import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4 } from 'node:net'

/** What a request says about where it comes from. */
export interface Scrape {
  /** The peer of the connection, not what a proxy says. */
  peer: string | undefined
  httpVersion: string
  headers: IncomingHttpHeaders
}

/** Whether these metrics may be read: with the token, if one is set, or on this machine without a proxy in between. */
export function mayScrape(scrape: Scrape, token: string | undefined): boolean {
  return (token !== undefined && hasToken(scrape.headers, token)) || isLocal(scrape)
}

const BEARER = /^Bearer +(\S+) *$/i

function hasToken({ authorization }: IncomingHttpHeaders, token: string): boolean {
  const sent = BEARER.exec(authorization ?? '')?.[1]
  // Hashes have the same length, and the time that comparing them takes says nothing about the token.
  return sent !== undefined && timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', token, 'buffer'))
}

/** What proxies add, and what browsers send for pages of other origins. */
const FROM_ELSEWHERE = /^(?:forwarded|x-forwarded-.*|x-real-ip|via|origin)$/

/** Proxies that add no header often use HTTP/1.0, which no scraper does. */
function isLocal({ peer, httpVersion, headers }: Scrape): boolean {
  return (
    isLoopbackAddress(peer ?? '') &&
    httpVersion === '1.1' &&
    isLoopbackHost(headers.host ?? '') &&
    !Object.keys(headers).some((name) => FROM_ELSEWHERE.test(name))
  )
}

function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '')
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

/** A name that leads to this machine by chance, as in DNS rebinding, is not one. */
function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase()
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
}
