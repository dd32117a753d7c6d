import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type FileFacts, fileFacts } from './file-facts.ts'

/** A published file, held open: whatever replaces it on disk meanwhile, size, facts and bytes stay those of one file. */
export interface OpenFile extends FileFacts {
  handle: FileHandle
  path: string
  size: number
  modified: Date
}

/** Opens files that are known to be files; whoever opens one closes its handle. */
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
