import { hash } from 'node:crypto'

/** Bytes. Fits every file system with the extension and folder added. */
const LONGEST = 200

const PLAIN = /[a-z0-9._-]/

/** Device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/

/**
 * `openai/gpt-4o` -> `models/openai/gpt-4o.html`. `a-z 0-9 . _ -` stay, other bytes become `=` and two hex digits;
 * longer than 200 bytes is cut and ends in `=h` and a hash.
 */
export function modelPath(slug: string): string {
  const segments = slug.split(/(?<=[^/])\/(?=[^/])/)
  const path = segments.map((segment, position) => encode(segment, position < segments.length - 1)).join('/')
  return `models/${path.length > LONGEST ? cut(path, slug) : path}.html`
}

/** Where the list of models has an author. `key` is that of `authorsOf`. */
export function authorPath(key: string): string {
  return `models.html#${authorId(key)}`
}

export function authorId(key: string): string {
  return `author-${encode(key, false)}`
}

function encode(segment: string, isFolder: boolean): string {
  const plain = [...segment].map((character) => (PLAIN.test(character) ? character : toEscapes(character))).join('')
  const name = plain
    .replace(/^\.|\.$/g, toEscapes)
    .replace(DEVICE, (device) => toEscapes(device.slice(0, 1)) + device.slice(1))
  return isFolder ? name.replace(/\.(?=html$)/, toEscapes) : name
}

function toEscapes(text: string): string {
  return [...Buffer.from(text)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join('')
}

/** `=h` is no escape, so cut paths never collide with others. */
function cut(path: string, slug: string): string {
  const digest = hash('sha256', slug).slice(0, 16)
  return `${path.slice(0, LONGEST - 18)}=h${digest}`
}
