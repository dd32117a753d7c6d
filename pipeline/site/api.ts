import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { CliError } from '../base/errors.ts'
import { toText } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { writeJson } from '../base/text.ts'
import { CATALOGUE_FILE, inListOrder, SHIPPED_CATALOGUE } from '../contract/embeddings-catalogue.ts'
import type { Manifest } from '../contract/manifest.ts'
import { API_FILES } from '../contract/published-paths.ts'
import { type RankingRow, rowsSince } from '../contract/ranking.ts'
import { mostRecentCompletedDay } from '../contract/utc-date.ts'
import { resolveWindow } from '../contract/window.ts'
import type { Page } from './layout.ts'

/** The sort key. Other fields stay as they are, in order: `catalog import` has checked them. */
const Ordered = z.object({ id: z.string(), created: z.int() })
const Model = z.custom<z.infer<typeof Ordered>>((value) => Ordered.safeParse(value).success, {
  error: 'must be an object with an id and the number created',
})

/** The API's answer to a request for the ranking without parameters, as of a release with these rows. */
export function renderRankingsDaily(rows: readonly RankingRow[], { as_of, version }: Manifest): Page {
  const window = resolveWindow({}, mostRecentCompletedDay(new Date(as_of)))
  const text = writeJson(rowsSince(rows, window.start_date), { as_of, ...window, version }).toString()
  return { path: API_FILES.rankings_daily, text }
}

/** The API's answer to a request for embeddings models without parameters. */
export async function renderEmbeddingsModels(dataDir: string): Promise<Page> {
  return { path: API_FILES.embeddings_models, text: await embeddingsModels(dataDir) }
}

/** The published list of embeddings models. Throws `CliError` for an invalid catalogue. */
export async function embeddingsModels(dataDir: string): Promise<string> {
  const own = join(dataDir, CATALOGUE_FILE)
  const path = existsSync(own) ? own : fileURLToPath(SHIPPED_CATALOGUE)
  const models = parseJson(z.array(Model), toText(await readFile(path), path, CliError), path, CliError)
  const newestFirst = models.toSorted(inListOrder)
  return JSON.stringify({ data: newestFirst, links: { next: null }, total_count: newestFirst.length })
}

export function countModels(text: string): number {
  return z.object({ total_count: z.int() }).parse(JSON.parse(text)).total_count
}
