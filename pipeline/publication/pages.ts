import { hash } from 'node:crypto'
import { hashOf, hashOfCode } from '../base/code.ts'
import type { Database } from '../base/database.ts'
import { codedPaths } from '../contract/codings.ts'
import { API_FILES, COVERAGE_PATH, PAGE_FOLDERS, RESTATEMENTS_PATH } from '../contract/published-paths.ts'
import { renderRankingsDaily } from '../site/api.ts'
import type { Bundle } from '../site/bundle.ts'
import { type KnownFacts, readFacts } from '../site/facts.ts'
import type { Page } from '../site/layout.ts'
import { strayFiles } from './compare.ts'
import type { NextTree } from './next-tree.ts'
import { arePicturesStanding, drawChanged } from './pictures.ts'
import type { PublishedPage } from './publication.ts'
import { noteRendered, type Rendered, readRendered, sortAssets, standingPages } from './rendered.ts'

/** The texts that follow from the releases alone. */
export interface RenderedSite {
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
  const { publicDir, stateDir, files } = tree.folder
  const source = await sourceOf(tree, known.index)
  const previous = await readRendered(stateDir)
  if (previous?.source === source) {
    const standing = await standingPages(publicDir, previous, Object.keys(previous.texts))
    const ranking = standing?.find(({ path }) => path === API_FILES.rankings_daily)
    if (ranking !== undefined && (await arePicturesStanding(tree.folder)))
      return { pages: [], ranking, note: async () => {} }
  }
  const { rows, periods } = await tree.load(known.manifest.release, database)
  const ranking = renderRankingsDaily(rows, known.manifest)
  const { scripts, bundle } = await scriptsFor(publicDir, previous)
  // Loaded only by builds that render.
  const { renderSite } = await import('../site/render.ts')
  const { linkPictures } = await import('../site/pictures.ts')
  const facts = await readFacts((each) => tree.rootOf(each), { ...known, rows, periods }, database)
  const pages = renderSite(facts, bundle)
  const { drawings, note: notePictures } = await drawChanged(tree.folder, linkPictures(facts))
  // Assets of the previous pages stay, because some may be open or cached.
  const { retired, outdated } = sortAssets(previous, pages)
  const published = [...pages, ...drawings]
  const stray = await strayFiles(publicDir, PAGE_FOLDERS, published)
  for (const each of [...stray, ...outdated, ...outdated.flatMap(codedPaths)]) await tree.remove(each, 'leftovers')
  const note = async () => {
    await noteRendered(stateDir, { source, scripts, retired, pages: [...pages, ranking] }, files)
    await notePictures()
  }
  return { pages: published, ranking, note }
}

async function sourceOf(tree: NextTree, index: KnownFacts['index']): Promise<string> {
  const documents = [await tree.read(COVERAGE_PATH), await tree.read(RESTATEMENTS_PATH)]
  return hash('sha256', JSON.stringify([hashOfCode(), index, ...documents]))
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
