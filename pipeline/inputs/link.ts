import { createWriteStream } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openInput } from './decompress.ts'
import type { InputFile } from './find.ts'
import type { LinkedFile } from './group.ts'

/**
 * Gives each file a plain name in `folder` by a symbolic link, so that spaces, quotes, braces and wildcards in its own
 * name are never read as a pattern. Compressed Parquet, which nothing can read in place, is written there unpacked.
 */
export async function linkFiles(files: readonly InputFile[], folder: string): Promise<LinkedFile[]> {
  return Promise.all(
    files.map(async (file, position) => {
      const link = join(folder, `${position}.${file.format}`)
      if (file.format !== 'parquet' || file.compression === 'uncompressed') {
        await symlink(file.path, link)
        return { ...file, link }
      }
      await pipeline(openInput(file), createWriteStream(link))
      return { ...file, link, compression: 'uncompressed' as const }
    }),
  )
}
