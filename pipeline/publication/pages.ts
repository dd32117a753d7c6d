import { hash } from 'node:crypto'
import { hashOf, hashOfCode } from '../base/code.ts'
import type { Database } from '../base/database.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { withCoded } from '../contract/codings.ts'
import { API_FILES, PAGE_FOLDERS } from '../contract/published-paths.ts'
import { renderRankingsDaily } from '../site/api.ts'
import type { Bundle } from '../site/bundle.ts'
import { type KnownFacts, readFacts } from '../site/facts.ts'
import type { Page } from '../site/layout.ts'
import { strayFiles } from './compare.ts'
import type { NextTree } from './next-tree.ts'
import type { PublishedPage } from './publication.ts'
import { areStanding, noteRendered, type Rendered, readRendered, sortAssets, standingPages } from './rendered.ts'

/** The texts that follow from the releases alone. */
interface RenderedSite {
  /** Those to write; none if nothing changed. */
  pages: readonly PublishedPage[]
  /** The API's answer with the ranking. */
  ranking: Page
  /** Notes what was rendered. Call it when all is in place. */
  note: () => Promise<void>
}

/** Renders pages and ranking, or takes the published ones if nothing changed. Removes stale pages. */
export async function renderChanged(
  tree: NextTree,
  known: Omit<KnownFacts, 'rows' | 'periods'>,
  database: Database,
): Promise<RenderedSite> {
  const { publicDir, stateDir } = tree.folder
  const source = sourceOf(known)
  const previous = await readRendered(stateDir)
  if (previous?.source === source && (await areStanding(publicDir, previous, Object.keys(previous.pages)))) {
    const [ranking] = (await standingPages(publicDir, previous, [API_FILES.rankings_daily])) ?? []
    if (ranking !== undefined) return { pages: [], ranking, note: async () => {} }
  }
  const { rows, periods } = await tree.load(known.manifest.release, database)
  const ranking = renderRankingsDaily(rows, known.manifest)
  const { scripts, bundle } = await scriptsFor(publicDir, previous)
  // Loaded only by builds that render.
  const { renderSite } = await import('../site/render.ts')
  const { CARD } = await import('../site/assets.ts')
  const facts = await readFacts((each) => tree.rootOf(each), { ...known, rows, periods }, database)
  const all: PublishedPage[] = [...renderSite(facts, bundle), CARD]
  // Assets of the previous pages stay, because some may be open or cached.
  const { retired, outdated } = sortAssets(previous, all)
  const stray = await strayFiles(publicDir, PAGE_FOLDERS, all)
  for (const each of [...stray, ...outdated.flatMap(withCoded)]) await tree.remove(each, 'leftovers')
  const standing =
    tree.isNewChain || previous === undefined ? new Map() : await unchangedPages(publicDir, previous, all)
  const pages = all.filter(({ path }) => !standing.has(path))
  const made = { source, code: hashOfCode(), scripts, retired }
  const note = () => noteRendered(tree.folder, made, { pages: [...pages, ranking], standing })
  return { pages, ranking, note }
}

/** The pages that are published and have the key that they were rendered by. The key has all but the code. */
async function unchangedPages(
  publicDir: string,
  previous: Rendered,
  pages: readonly Pick<PublishedPage, 'path' | 'key'>[],
): Promise<Map<string, Rendered['pages'][string]>> {
  if (previous.code !== hashOfCode()) return new Map()
  const unchanged = pages.filter(({ path, key }) => key !== undefined && previous.pages[path]?.key === key)
  const standing = await sideBySide(unchanged, async ({ path }) => {
    const page = previous.pages[path]
    return page !== undefined && (await areStanding(publicDir, previous, [path])) ? [[path, page] as const] : []
  })
  return new Map(standing.flat())
}

function sourceOf({ index, dois, coverage, restatements }: Omit<KnownFacts, 'rows' | 'periods'>): string {
  return hash('sha256', JSON.stringify([hashOfCode(), index, dois, coverage, restatements]))
}

/** The published scripts if they were made from the same sources, and otherwise new ones. */
async function scriptsFor(
  publicDir: string,
  previous: Rendered | undefined,
): Promise<{ scripts: Rendered['scripts']; bundle: Bundle }> {
  // The second file pins esbuild and the libraries that go into the scripts.
  const source = hash('sha256', JSON.stringify([hashOfCode(), hashOf('package-lock.json')]))
  if (previous?.scripts.source === source) {
    const { names, paths } = previous.scripts
    const pages = await standingPages(publicDir, previous, paths)
    if (pages !== undefined) return { scripts: previous.scripts, bundle: { names, pages } }
  }
  const { bundleBrowser } = await import('../site/bundle.ts')
  const bundle = await bundleBrowser()
  const { names, pages } = bundle
  return { scripts: { source, names, paths: pages.map(({ path }) => path) }, bundle }
}
