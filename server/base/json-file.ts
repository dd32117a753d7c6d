import { readFile } from 'node:fs/promises'
import { sharedFingerprint } from './followed-file.ts'
import { remembered } from './remembered.ts'

/** The bytes of a file; undefined if it does not exist. */
export async function readIfAny(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Undefined if there are no bytes, or no JSON. */
export function jsonIfAny(bytes: Buffer | undefined): unknown {
  try {
    return bytes && JSON.parse(bytes.toString())
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** What `read` makes of the bytes of a file, again when it was replaced; undefined if it does not exist. */
export function readWhenReplaced<T>(
  path: string,
  read: (bytes: Buffer, stamp: string) => T | Promise<T>,
): () => Promise<T | undefined> {
  const values = remembered<T | undefined>(1)

  return async () => {
    const stamp = await sharedFingerprint(path)
    if (stamp === undefined) return undefined
    return await values(stamp, async () => {
      const bytes = await readIfAny(path)
      return bytes && read(bytes, stamp)
    })
  }
}
