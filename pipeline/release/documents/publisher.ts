import type { Publisher } from '../../contract/manifest.ts'

/** How to reach the publisher: `contact` of `publisher.json` is an address for mail, a page, or plain words. */
export function contactOf({ contact }: Publisher): { email?: string; url?: string } {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(contact)) return { email: contact }
  return URL.canParse(contact) ? { url: contact } : {}
}
