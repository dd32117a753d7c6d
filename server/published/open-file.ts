import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type FileFacts, fileFacts } from './file-facts.ts'

export interface OpenFile extends FileFacts {
  handle: FileHandle
  path: string
  size: number
  modified: Date
}

/** Opens regular files. The caller closes the handle. */
export function fileOpener(): (path: string) => Promise<OpenFile> {
  const factsOf = fileFacts()

  return async (path) => {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      const { size, mtime } = await handle.stat()
      return { handle, path, size, modified: mtime, ...(await factsOf(handle, path)) }
    } catch (error) {
      await handle.close()
      throw error
    }
  }
}
