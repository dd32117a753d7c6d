import { hash } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { type Coding, codedPath, codedPaths, codingsOf, LARGEST_CODED } from '../../pipeline/contract/codings.ts'
import { remembered } from '../base/remembered.ts'
import { gzipPathOf } from './file-facts.ts'
import { isUnreachable } from './missing.ts'
import type { OpenFile } from './open-file.ts'

const MOST_REMEMBERED_FORMS = 10_000

/** Of a file of a release, whose manifest lists it. */
const GZIP_ALONE: readonly Coding[] = ['gzip']

const decompress = { br: promisify(brotliDecompress), gzip: promisify(gunzip) }

/** The files that may be compressed forms of a file, by its name. */
export function formPathsOf(path: string): string[] {
  const forms = codedPaths(path)
  const gzip = gzipPathOf(path)
  return gzip === undefined || forms.includes(gzip) ? forms : [...forms, gzip]
}

/** Opens the compressed forms of an open file, those that hold its bytes. The caller closes their handles. */
export type FindForms = (file: OpenFile) => Promise<Map<Coding, OpenFile>>

/** `open` gives undefined for a form that may not be read. Such a form is left out. */
export function formFinder(root: string, open: (path: string) => Promise<OpenFile | undefined>): FindForms {
  const tagOfText = remembered<string | undefined>(MOST_REMEMBERED_FORMS)

  /** A release lists its gzip. Other files have forms that a build wrote, and a copy may have mixed up. */
  async function isFormOf(form: OpenFile, file: OpenFile, coding: Coding): Promise<boolean> {
    if (file.gzipEtag !== undefined) return coding === 'gzip' && form.etag === file.gzipEtag
    return file.etag === (await tagOfText(`${coding} ${form.etag}`, () => tagOfDecoded(form, coding)))
  }

  return async (file) => {
    const forms = new Map<Coding, OpenFile>()
    const codings = file.gzipEtag === undefined ? codingsOf(relative(await realpath(root), file.path)) : GZIP_ALONE
    for (const coding of codings) {
      const path = codedPath(file.path, coding)
      const form = (await isPlainFile(path)) ? await open(path) : undefined
      if (form === undefined) continue
      if (await isFormOf(form, file, coding)) forms.set(coding, form)
      else await form.handle.close()
    }
    return forms
  }
}

async function tagOfDecoded({ handle, size }: OpenFile, coding: Coding): Promise<string | undefined> {
  if (size > LARGEST_CODED) return undefined
  const { buffer } = await handle.read(Buffer.alloc(size), 0, size, 0)
  try {
    return `"sha256-${hash('sha256', await decompress[coding](buffer, { maxOutputLength: LARGEST_CODED }))}"`
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
