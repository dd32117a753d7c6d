import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { publishedPath } from '../contract/published-paths.ts'
import type { Page } from '../site/layout.ts'

const RENDERED_FILE = 'pages.json'

const Texts = z.record(z.string(), z.string())

/** What the last build rendered. A cache in the state folder: a published file is taken for it only if its hash is right. */
const Rendered = z.object({
  /** The hash of what the texts were rendered from. */
  source: z.string(),
  /** SHA-256 by path. */
  texts: Texts,
  /** The browser's scripts: the hash of their sources, and the path of each entry. */
  scripts: z.object({ source: z.string(), names: Texts, paths: z.array(z.string()) }),
  /** Assets that only the pages before these load. They go when pages are rendered again. */
  retired: z.array(z.string()).default([]),
})
export type Rendered = z.infer<typeof Rendered>

/** Undefined if nothing was rendered yet, or another version noted it. */
export async function readRendered(stateDir: string): Promise<Rendered | undefined> {
  return Rendered.safeParse(jsonIfAny(await readTextIfAny(join(stateDir, RENDERED_FILE)))).data
}

export async function noteRendered(
  stateDir: string,
  { pages, ...rest }: Omit<Rendered, 'texts'> & { pages: readonly Page[] },
  files: Files,
): Promise<void> {
  const texts = Object.fromEntries(pages.map(({ path, text }) => [path, hash('sha256', text)]))
  await replaceFile(files, join(stateDir, RENDERED_FILE), toJson({ ...rest, texts } satisfies Rendered))
}

/** The assets named by a hash that only the previous pages load, and those that only the pages before them did. */
export function sortAssets(
  previous: Rendered | undefined,
  pages: readonly Page[],
): { retired: string[]; outdated: string[] } {
  const loaded = new Set(pages.map(({ path }) => path))
  const before = Object.keys(previous?.texts ?? {}).filter((path) => publishedPath(path).cache === 'hashed')
  const retired = before.filter((path) => !loaded.has(path))
  const kept = new Set([...loaded, ...retired])
  return { retired, outdated: (previous?.retired ?? []).filter((path) => !kept.has(path)) }
}

/** The published texts at these paths; undefined unless each is there and is the one that was rendered. */
export async function standingPages(
  publicDir: string,
  { texts }: Rendered,
  paths: readonly string[],
): Promise<Page[] | undefined> {
  const pages = await sideBySide(paths, async (path): Promise<Page[]> => {
    const text = await readTextIfAny(join(publicDir, path))
    return text !== undefined && hash('sha256', text) === texts[path] ? [{ path, text }] : []
  })
  const standing = pages.flat()
  return standing.length === paths.length ? standing : undefined
}
