/** Compressed forms of published texts, each in a file beside its text: `index.html.br` and `index.html.gz`. */
import { DATASET_PATH } from './manifest.ts'
import { PAGE_FOLDERS, withoutCoding } from './published-paths.ts'

/** As in `Content-Encoding`, in the order of preference. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

const CODING_ENDINGS = { br: '.br', gzip: '.gz' } as const satisfies Record<Coding, string>

/** Smaller texts fit into one packet anyway. */
export const SMALLEST_CODED = 1024
/** Larger ones are data, which has formats for that. */
export const LARGEST_CODED = 256 * 1024

const CODED = /\.(html|css|js|svg|json)$/
/** Nothing is added to releases, and days and months are data, of a few kilobytes a file. */
const NOT_CODED = new RegExp(`^${DATASET_PATH}/(releases|latest|daily|monthly)/`)

/** Pages of which there are many. Brotli would make them 5 % smaller than gzip does, and each build longer by as much. */
const MANY = new RegExp(`^(${PAGE_FOLDERS.join('|')})/`)

/** The codings that a text may have. */
export function codingsOf(path: string): readonly Coding[] {
  if (!CODED.test(path) || NOT_CODED.test(path)) return []
  return MANY.test(path) ? ['gzip'] : CODINGS
}

export function codedPath(path: string, coding: Coding): string {
  return `${path}${CODING_ENDINGS[coding]}`
}

/** The paths that the compressed forms of a text may have. */
export function codedPaths(path: string): string[] {
  return codingsOf(path).map((coding) => codedPath(path, coding))
}

/** Whether a path is one of a compressed form. */
export function isCoding(path: string): boolean {
  return codedPaths(withoutCoding(path)).includes(path)
}
