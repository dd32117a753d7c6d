import { join } from 'node:path'
import { z } from 'zod'
import { BuildError, CliError } from '../base/errors.ts'
import { type Files, namesIn, readTextIfAny, replaceFile, statsIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'

/** Below the folder of an export: what it needs for itself. Hidden, so that no host serves it. */
export const OWN_FOLDER = '.tokenboard-export'

const LIST_FILE = join(OWN_FOLDER, 'list.json')

/** A path inside of the export: of those that it removes none may lead out of it. */
const ExportedPath = z
  .string()
  .refine((path) => path.split('/').every((name) => name !== '' && !name.startsWith('.')), {
    error: 'must be a path below the export',
  })

const List = z.strictObject({ files: z.array(z.strictObject({ path: ExportedPath, content: z.string().nullable() })) })

/**
 * What exports have put into a folder: each path with what was put there, `sha256:…` of a file or `-> target` of a link,
 * null where a stop left either the old or the new.
 */
export type ExportList = ReadonlyMap<string, string | null>

/** Reads what earlier exports have put into a folder. Throws `CliError` when it holds anything else but hidden names. */
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

/** Replaces the list of a folder at once, and makes the folder where there is none. */
export async function writeList(folder: string, list: ExportList, files: Files): Promise<void> {
  await files.makeFolder(join(folder, OWN_FOLDER))
  const entries = [...list].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, content]) => ({ path, content }))
  await replaceFile(files, join(folder, LIST_FILE), toJson({ files: entries }))
}
