import { join } from 'node:path'
import { z } from 'zod'
import { BuildError, CliError } from '../base/errors.ts'
import { type Files, namesIn, readTextIfAny, replaceFile, statsIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'

export const OWN_FOLDER = '.tokenboard-export'

const LIST_FILE = join(OWN_FOLDER, 'list.json')

/** Paths must stay inside the export, because an export removes files by this list. */
const ExportedPath = z
  .string()
  .refine((path) => path.split('/').every((name) => name !== '' && !name.startsWith('.')), {
    error: 'must be a path below the export',
  })

const List = z.strictObject({ files: z.array(z.strictObject({ path: ExportedPath, content: z.string().nullable() })) })

/** By path: `sha256:…` of a file, `-> target` of a link, null if a stop left the old or the new file. */
export type ExportList = ReadonlyMap<string, string | null>

/** Reads the list of files that earlier exports wrote. Throws `CliError` if the folder holds other visible files. */
export async function readList(folder: string): Promise<ExportList> {
  const path = join(folder, LIST_FILE)
  const text = await readTextIfAny(path)
  if (text !== undefined) {
    const { files } = parseJson(List, text, path, BuildError)
    return new Map(files.map(({ path: file, content }) => [file, content]))
  }
  const stats = await statsIfAny(folder)
  if (stats !== undefined && !stats.isDirectory()) throw new CliError(`${folder} is not a folder`)
  if ((await namesIn(folder)).every((name) => name.startsWith('.'))) return new Map()
  throw new CliError(`${folder} is not empty and no export has made it; give a new folder, or empty this one`)
}

/** Replaces the list atomically. Creates the folder if it is missing. */
export async function writeList(folder: string, list: ExportList, files: Files): Promise<void> {
  await files.makeFolder(join(folder, OWN_FOLDER))
  const entries = [...list].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, content]) => ({ path, content }))
  await replaceFile(files, join(folder, LIST_FILE), toJson({ files: entries }))
}
