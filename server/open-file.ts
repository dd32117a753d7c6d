import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { fileTags } from './file-tags.ts'

/** A published file, held open: whatever replaces it on disk meanwhile, size, tag and bytes stay those of one file. */
export interface OpenFile {
  handle: FileHandle
  path: string
  size: number
  modified: Date
  /** Strong: made of the bytes. */
  etag: string
}

/** Opens files that are known to be files; whoever opens one closes its handle. */
export function fileOpener(): (path: string) => Promise<OpenFile> {
  const etagOf = fileTags()

  return async (path) => {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      const { size, mtime } = await handle.stat()
      return { handle, path, size, modified: mtime, etag: await etagOf(handle, path) }
    } catch (error) {
      await handle.close()
      throw error
    }
  }
}
