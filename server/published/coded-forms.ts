import { hash } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { relative } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { codedPath, LARGEST_CODED } from '../../pipeline/contract/codings.ts'
import { remembered } from '../base/remembered.ts'
import { gzipPathOf } from './file-facts.ts'
import { isUnreachable } from './missing.ts'
import type { OpenFile } from './open-file.ts'

const MOST_REMEMBERED_FORMS = 10_000

/** The file that may be the compressed form of a file, by its name. */
export function formPathOf(path: string): string | undefined {
  return codedPath(path) ?? gzipPathOf(path)
}

/** Opens the gzip of an open file, if it holds its bytes. The caller closes its handle. */
export type FindForm = (file: OpenFile) => Promise<OpenFile | undefined>

/** `open` gives undefined for a form that may not be read. Such a form is left out. */
export function formFinder(root: string, open: (path: string) => Promise<OpenFile | undefined>): FindForm {
  const tagOfText = remembered<string | undefined>(MOST_REMEMBERED_FORMS)

  /** A release lists its gzip. Other files have forms that a build wrote, and a copy may have mixed up. */
  async function isFormOf(form: OpenFile, file: OpenFile): Promise<boolean> {
    if (file.gzipEtag !== undefined) return form.etag === file.gzipEtag
    return file.etag === (await tagOfText(form.etag, () => tagOfDecoded(form)))
  }

  return async (file) => {
    const mayHave = file.gzipEtag !== undefined || codedPath(relative(await realpath(root), file.path)) !== undefined
    const path = `${file.path}.gz`
    const form = mayHave && (await isPlainFile(path)) ? await open(path) : undefined
    if (form === undefined || (await isFormOf(form, file))) return form
    await form.handle.close()
    return undefined
  }
}

async function tagOfDecoded({ handle, size }: OpenFile): Promise<string | undefined> {
  if (size > LARGEST_CODED) return undefined
  const { buffer } = await handle.read(Buffer.alloc(size), 0, size, 0)
  try {
    return `"sha256-${hash('sha256', await promisify(gunzip)(buffer, { maxOutputLength: LARGEST_CODED }))}"`
  } catch {
    return undefined
  }
}

/** Links are refused: their targets were not checked. */
async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile()
  } catch (error) {
    if (isUnreachable(error)) return false
    throw error
  }
}
