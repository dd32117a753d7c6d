import { BlockedError } from '../base/errors.ts'
import type { UnreadableFile } from '../raw/records.ts'
import type { Finding } from './checks.ts'

/** The check of documents without records. It always blocks, and `--accept` takes it with the name of a file. */
export const UNREADABLE_DOCUMENT = 'unreadable_document'
export type AcceptedFile = `${typeof UNREADABLE_DOCUMENT}:${string}`

export function isAcceptedFile(name: string): name is AcceptedFile {
  return name.startsWith(`${UNREADABLE_DOCUMENT}:`)
}

/** For the maintainer alone: the names of files are never published. */
export function toFindings(found: readonly UnreadableFile[]): Finding[] {
  return found.map(({ source, file, documents }) => {
    const finding = 'has documents without records, whose usage may be missing'
    const check = UNREADABLE_DOCUMENT
    return { check, date: undefined, source, isPublic: false, finding, detail: `${file}, ${documents}` }
  })
}

/**
 * Throws `BlockedError` that names files with more unreadable documents than the current release was published with, unless
 * the maintainer accepts them.
 */
export function checkReadable(
  found: readonly UnreadableFile[],
  { accepted, published }: { accepted: readonly string[]; published: readonly UnreadableFile[] },
): void {
  const fresh = found.filter(({ source, file, documents }) => {
    const known = published.find((each) => each.source === source && each.file === file)?.documents ?? 0
    return documents > known && !accepted.includes(`${UNREADABLE_DOCUMENT}:${file}`)
  })
  if (fresh.length === 0) return
  const lines = fresh.map(({ source, file, documents }) => `  source ${JSON.stringify(source)}: ${file}, ${documents}`)
  const flags = fresh.map(({ file }) => `--accept '${UNREADABLE_DOCUMENT}:${file.replaceAll("'", `'\\''`)}'`)
  throw new BlockedError(
    `${UNREADABLE_DOCUMENT}: these files have documents (lines, pages or batches) that are cut, or are something else, such as ` +
      `the message of a failed request; nobody knows how many records are missing, and nothing was published\n${lines.join('\n')}\n` +
      'fetch these files again; `tokenboard rejects` shows the documents. If no usage is missing, publish with: ' +
      `tokenboard build ${flags.join(' ')}`,
    [UNREADABLE_DOCUMENT],
  )
}
