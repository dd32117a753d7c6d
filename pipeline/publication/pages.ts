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
import type { Page } from '../site/layout.ts'
import { renderSite } from '../site/render.ts'
import { strayFiles } from './compare.ts'
import type { NextTree } from './next-tree.ts'

/** A cache in the state folder. */
const RENDERED_FILE = 'pages.json'

const Rendered = z.object({ source: z.string(), pages: z.record(z.string(), z.string()) })
type Rendered = z.infer<typeof Rendered>

/** The pages to write; none if nothing changed. Removes stale ones. Call `note` once all are in place. */
export async function changedPages(
  tree: NextTree,
  { manifest, index }: Pick<SiteFacts, 'manifest' | 'index'>,
  database: Database,
): Promise<{ pages: Page[]; note: () => Promise<void> }> {
  const { publicDir, stateDir, files } = tree.folder
  const source = await sourceOf(tree, index)
  const path = join(stateDir, RENDERED_FILE)
  const previous = Rendered.safeParse(jsonIfAny(await readTextIfAny(path))).data
  if (previous?.source === source && (await areInPlace(publicDir, previous))) return { pages: [], note: async () => {} }
  const pages = await renderSite(await readFacts((each) => tree.rootOf(each), { manifest, index }, database))
  // Assets stay, because open pages may still load them.
  for (const stray of await strayFiles(publicDir, PAGE_FOLDERS, pages)) await tree.remove(stray, 'leftovers')
  const hashes = Object.fromEntries(pages.map((page) => [page.path, hash('sha256', page.text)]))
  return { pages, note: () => replaceFile(files, path, toJson({ source, pages: hashes } satisfies Rendered)) }
}

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
