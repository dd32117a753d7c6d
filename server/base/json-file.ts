import { readFile } from 'node:fs/promises'

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
