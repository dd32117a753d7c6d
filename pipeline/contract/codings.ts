/** Compressed forms of published texts, each in a file beside its text: `index.html.gz`. */
import { DATASET_PATH } from './manifest.ts'
import { withoutCoding } from './published-paths.ts'

/** Smaller texts fit into one packet anyway. */
export const SMALLEST_CODED = 1024
/** Larger ones are data, which has formats for that. */
export const LARGEST_CODED = 256 * 1024

const CODED = /\.(html|css|js|svg|json)$/
/** Nothing is added to releases, and days and months are data, of a few kilobytes a file. */
const NOT_CODED = new RegExp(`^${DATASET_PATH}/(releases|latest|daily|monthly)/`)

/** The path that the compressed form of a text may have; undefined if it has none. */
export function codedPath(path: string): string | undefined {
  return CODED.test(path) && !NOT_CODED.test(path) ? `${path}.gz` : undefined
}

/** A path and that of its compressed form, if it may have one. */
export function withCoded(path: string): string[] {
  const coded = codedPath(path)
  return coded === undefined ? [path] : [path, coded]
}

/** Whether a path is one of a compressed form. */
export function isCoding(path: string): boolean {
  return codedPath(withoutCoding(path)) === path
}
