import { createHmac, hash, randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { BuildError } from './errors.ts'
import { type Files, readTextIfAny, replaceFile } from './files.ts'

/** What a key is derived for. Keys of different uses tell nothing about each other. */
export type KeyUse = 'bound' | 'contributors' | 'dates' | 'inputs' | 'salts'

/** A permanent secret in a file, from which keys are derived. The file is written when the first key is asked for. */
export class Secret {
  readonly #path: string
  readonly #files: Files | undefined
  #text: Promise<string> | undefined

  /** Without `files` nothing is written: a missing secret is a temporary one. */
  constructor(path: string, files?: Files) {
    this.#path = path
    this.#files = files
  }

  /** A key of 64 hex digits: HMAC-SHA256 (RFC 2104) of the use. Throws `BuildError` if the file is damaged. */
  async keyFor(use: KeyUse): Promise<string> {
    this.#text ??= this.#read()
    return createHmac('sha256', await this.#text)
      .update(use)
      .digest('hex')
  }

  /** Whether there is a secret already. */
  async isKept(): Promise<boolean> {
    return (await readTextIfAny(this.#path)) !== undefined
  }

  /** A hash of the file; undefined if there is none. */
  async fingerprint(): Promise<string | undefined> {
    const text = await readTextIfAny(this.#path)
    return text && hash('sha256', text)
  }

  async #read(): Promise<string> {
    const known = (await readTextIfAny(this.#path))?.trim()
    if (known === undefined) return this.#make()
    if (/^[0-9a-f]{64}$/.test(known)) return known
    throw new BuildError(`${this.#path} is damaged: it must have 64 hex digits; restore it from a backup`)
  }

  async #make(): Promise<string> {
    const text = randomBytes(32).toString('hex')
    if (this.#files === undefined) return text
    await this.#files.makeFolder(dirname(this.#path), true)
    await replaceFile(this.#files, this.#path, `${text}\n`, { isPrivate: true })
    return text
  }
}
