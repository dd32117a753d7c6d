import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { type Files, readIfAny, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { stampOf } from '../base/stamp.ts'
import { publishedPath } from '../contract/published-paths.ts'
import type { Page } from '../site/layout.ts'
import type { PublishedPage } from './publication.ts'

const RENDERED_FILE = 'pages.json'

const RenderedPage = z.object({
  /** SHA-256 of the text. */
  sha256: z.string(),
  /** Of a page that has one: the hash of all that its text is made from. */
  key: z.string().optional(),
  /** Of the published file. Undefined if there was none. */
  stamp: z.string().optional(),
})
type RenderedPage = z.infer<typeof RenderedPage>

/** What the last build rendered: a cache in the state folder. */
const Rendered = z.object({
  /** The hash of what the texts were rendered from. */
  source: z.string(),
  /** The hash of the code that rendered them. */
  code: z.string(),
  /** By path. */
  pages: z.record(z.string(), RenderedPage),
  /** The browser's scripts: the hash of their sources, and the path of each entry. */
  scripts: z.object({ source: z.string(), names: z.record(z.string(), z.string()), paths: z.array(z.string()) }),
  /** Assets that only the pages before these load. They go when pages are rendered again. */
  retired: z.array(z.string()).default([]),
})
export type Rendered = z.infer<typeof Rendered>

/** Undefined if nothing was rendered yet, or another version noted it. */
export async function readRendered(stateDir: string): Promise<Rendered | undefined> {
  return Rendered.safeParse(jsonIfAny(await readTextIfAny(join(stateDir, RENDERED_FILE)))).data
}

/** Notes rendered pages, and those of before that stand. Call it when all are published. */
export async function noteRendered(
  { stateDir, publicDir, files }: { stateDir: string; publicDir: string; files: Files },
  made: Omit<Rendered, 'pages'>,
  { pages, standing }: { pages: readonly PublishedPage[]; standing: ReadonlyMap<string, RenderedPage> },
): Promise<void> {
  const rendered = pages.map(({ path, text, key }): [string, RenderedPage] => [path, { sha256: hashOf(text), key }])
  const noted = [...standing, ...rendered].map(([path, page]) => [
    path,
    { ...page, stamp: stampOf(join(publicDir, path)) },
  ])
  const content: Rendered = { ...made, pages: Object.fromEntries(noted) }
  await replaceFile(files, join(stateDir, RENDERED_FILE), toJson(content))
}

/** Files of DuckDB are the same bytes in each build of a process. */
const hashes = new WeakMap<Buffer, string>()

function hashOf(text: string | Buffer): string {
  if (typeof text === 'string') return hash('sha256', text)
  const sha256 = hashes.get(text) ?? hash('sha256', text)
  hashes.set(text, sha256)
  return sha256
}

/** Whether each of these pages is published as it was rendered. */
export async function areStanding(
  publicDir: string,
  { pages }: Pick<Rendered, 'pages'>,
  paths: readonly string[],
): Promise<boolean> {
  const standing = await sideBySide(paths, (path) => isStanding(publicDir, path, pages[path]))
  return !standing.includes(false)
}

/** The assets named by a hash that only the previous pages load, and those that only the pages before them did. */
export function sortAssets(
  previous: Rendered | undefined,
  pages: readonly Pick<Page, 'path'>[],
): { retired: string[]; outdated: string[] } {
  const loaded = new Set(pages.map(({ path }) => path))
  const before = Object.keys(previous?.pages ?? {}).filter((path) => publishedPath(path).cache === 'hashed')
  const retired = before.filter((path) => !loaded.has(path))
  const kept = new Set([...loaded, ...retired])
  return { retired, outdated: (previous?.retired ?? []).filter((path) => !kept.has(path)) }
}

/** The published texts at these paths; undefined unless each is there and is the one that was rendered. */
export async function standingPages(
  publicDir: string,
  { pages }: Rendered,
  paths: readonly string[],
): Promise<Page[] | undefined> {
  const found = await sideBySide(paths, async (path): Promise<Page[]> => {
    const text = await readTextIfAny(join(publicDir, path))
    return text !== undefined && hash('sha256', text) === pages[path]?.sha256 ? [{ path, text }] : []
  })
  const standing = found.flat()
  return standing.length === paths.length ? standing : undefined
}

async function isStanding(publicDir: string, path: string, page: RenderedPage | undefined): Promise<boolean> {
  if (page === undefined) return false
  const place = join(publicDir, path)
  if (page.stamp !== undefined && page.stamp === stampOf(place)) return true
  const bytes = await readIfAny(place)
  return bytes !== undefined && hash('sha256', bytes) === page.sha256
}
