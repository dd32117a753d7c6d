/** Compressed forms of published texts, each in a file beside its text: `index.html.br` and `index.html.gz`. */
import { DATASET_PATH } from './manifest.ts'

/** As in `Content-Encoding`, in the order of preference. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

export const CODING_ENDINGS = { br: '.br', gzip: '.gz' } as const satisfies Record<Coding, string>

/** Smaller texts fit into one packet anyway. */
export const SMALLEST_CODED = 1024
/** Larger ones are data, which has formats for that. */
export const LARGEST_CODED = 256 * 1024

const CODED = /\.(html|css|js|svg|json)$/
/** Nothing is added to releases, and days and months are data, of a few kilobytes a file. */
const NOT_CODED = new RegExp(`^${DATASET_PATH}/(releases|latest|daily|monthly|iceberg)/`)

/** Whether a text may have compressed forms. */
export function isCoded(path: string): boolean {
  return CODED.test(path) && !NOT_CODED.test(path)
}

export function codedPath(path: string, coding: Coding): string {
  return `${path}${CODING_ENDINGS[coding]}`
}

/** The paths that the compressed forms of a text may have. */
export function codedPaths(path: string): string[] {
  return isCoded(path) ? CODINGS.map((coding) => codedPath(path, coding)) : []
}

/** Whether a path is one of a compressed form. */
export function isCoding(path: string): boolean {
  return codedPaths(path.replace(/\.[^.]+$/, '')).includes(path)
}
