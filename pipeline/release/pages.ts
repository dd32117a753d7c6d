import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { DATASET_PATH } from '../contract/manifest.ts'
import type { Database } from '../database.ts'
import { readTextIfAny, replaceFile } from '../files.ts'
import { COVERAGE_FILE, RESTATEMENTS_FILE } from '../history/follow.ts'
import { jsonIfAny } from '../json.ts'
import { hashOfCode } from '../provenance/code.ts'
import { readFacts, type SiteFacts } from '../site/facts.ts'
import { renderSite } from '../site/render.ts'
import { toJson } from './files.ts'
import { type PublicFolder, replace } from './replace.ts'
import { sweep } from './sweep.ts'

/** Below the state: what the pages were last made of, and the hash of each. A cache: without it they are made again. */
const RENDERED_FILE = 'pages.json'

const Rendered = z.object({ source: z.string(), pages: z.record(z.string(), z.string()) })
type Rendered = z.infer<typeof Rendered>

/** These folders hold pages and nothing else, so that a page which is no longer made is found there. */
const PAGE_FOLDERS = ['models', 'more-models', 'coverage', 'changelog']

/**
 * Brings the pages up to what is published. Rendering takes seconds for a long history, so it is left out where the same
 * code rendered the same facts before and every page lies there as it was rendered.
 */
export async function followPages(
  folder: PublicFolder,
  { manifest, index }: Pick<SiteFacts, 'manifest' | 'index'>,
  database: Database,
): Promise<void> {
  const { publicDir, stateDir, files } = folder
  const source = await sourceOf(publicDir, index)
  const path = join(stateDir, RENDERED_FILE)
  // What is no such file is none: then the pages are made again.
  const former = Rendered.safeParse(jsonIfAny(await readTextIfAny(path))).data
  if (former?.source === source && (await areInPlace(publicDir, former))) return
  const pages = await renderSite(await readFacts(publicDir, { manifest, index }, database))
  for (const { path, text } of pages) await replace(folder, path, text)
  // A model may be in no release any more. Assets stay: whoever has an older page open needs them.
  const paths = pages.map(({ path }) => path)
  for (const name of PAGE_FOLDERS) await sweep(folder, name, paths)
  const hashes = Object.fromEntries(pages.map(({ path, text }) => [path, hash('sha256', text)]))
  await replaceFile(files, path, toJson({ source, pages: hashes } satisfies Rendered))
}

/** A hash of all that decides how the pages look: code, releases, coverage, restatements. */
async function sourceOf(publicDir: string, index: SiteFacts['index']): Promise<string> {
  const documents = [COVERAGE_FILE, RESTATEMENTS_FILE].map((name) => readTextIfAny(join(publicDir, DATASET_PATH, name)))
  const facts = [hashOfCode(), index, ...(await Promise.all(documents))]
  return hash('sha256', JSON.stringify(facts))
}

async function areInPlace(publicDir: string, { pages }: Rendered): Promise<boolean> {
  const checks = Object.entries(pages).map(async ([path, sha256]) => {
    const text = await readTextIfAny(join(publicDir, path))
    return text !== undefined && hash('sha256', text) === sha256
  })
  return (await Promise.all(checks)).every(Boolean)
}
