import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { hashOfCode } from '../base/code.ts'
import type { Database } from '../base/database.ts'
import { readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { COVERAGE_PATH, PAGE_FOLDERS, RESTATEMENTS_PATH } from '../contract/published-paths.ts'
import { readFacts, type SiteFacts } from '../site/facts.ts'
import { renderSite } from '../site/render.ts'
import type { NextTree } from './next-tree.ts'
import { strayPages } from './stray-pages.ts'

/** Below the state: what the pages were last made of, and the hash of each. A cache: without it they are made again. */
const RENDERED_FILE = 'pages.json'

const Rendered = z.object({ source: z.string(), pages: z.record(z.string(), z.string()) })
type Rendered = z.infer<typeof Rendered>

/** Small files: most of the time goes into waiting until they are on disk. */
const WRITTEN_AT_ONCE = 16

/**
 * Stages the pages of what `tree` will publish. Rendering takes seconds for a long history, so it is left out where the
 * same code rendered the same facts before and every page lies there as it was rendered. Returns what notes that, to be
 * called once the pages are in place.
 */
export async function stagePages(
  tree: NextTree,
  { manifest, index }: Pick<SiteFacts, 'manifest' | 'index'>,
  database: Database,
): Promise<() => Promise<void>> {
  const { publicDir, stateDir, files } = tree.folder
  const source = await sourceOf(tree, index)
  const path = join(stateDir, RENDERED_FILE)
  // What is no such file is none: then the pages are made again.
  const former = Rendered.safeParse(jsonIfAny(await readTextIfAny(path))).data
  if (former?.source === source && (await areInPlace(publicDir, former))) return async () => {}
  const pages = await renderSite(await readFacts((each) => tree.rootOf(each), { manifest, index }, database))
  await sideBySide(pages, ({ path: page, text }) => tree.replace(page, text), WRITTEN_AT_ONCE)
  // A model may be in no release any more. Assets stay: whoever has an older page open needs them.
  const paths = pages.map((page) => page.path)
  for (const name of PAGE_FOLDERS) {
    for (const stray of await strayPages(publicDir, name, paths)) await tree.remove(stray, 'leftovers')
  }
  const hashes = Object.fromEntries(pages.map((page) => [page.path, hash('sha256', page.text)]))
  return () => replaceFile(files, path, toJson({ source, pages: hashes } satisfies Rendered))
}

/** A hash of all that decides how the pages look: code, releases, coverage, restatements. */
async function sourceOf(tree: NextTree, index: SiteFacts['index']): Promise<string> {
  const documents = [await tree.read(COVERAGE_PATH), await tree.read(RESTATEMENTS_PATH)]
  return hash('sha256', JSON.stringify([hashOfCode(), index, ...documents]))
}

async function areInPlace(publicDir: string, { pages }: Rendered): Promise<boolean> {
  const isInPlace = async ([path, sha256]: [string, string]) => {
    const text = await readTextIfAny(join(publicDir, path))
    return text !== undefined && hash('sha256', text) === sha256
  }
  return (await sideBySide(Object.entries(pages), isInPlace)).every(Boolean)
}
