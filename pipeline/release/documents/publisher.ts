import type { Publisher } from '../../contract/manifest.ts'

/** Reads `contact` of `publisher.json`: an email address, a URL, or neither. */
export function contactOf({ contact }: Publisher): { email?: string; url?: string } {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(contact)) return { email: contact }
  return URL.canParse(contact) ? { url: contact } : {}
}
