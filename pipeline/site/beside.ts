import { DATASET_PATH, type Manifest } from '../contract/manifest.ts'
import { renderCrawlerFiles } from './crawlers.ts'
import { type Page, renderSite } from './render.ts'

/** The metadata beside the releases: of them a copy on any host has the same bytes. */
export const METADATA_FILES = ['LICENSE', 'CITATION.cff', 'dcat.jsonld', `${DATASET_PATH}/croissant.json`] as const

/** All that stands beside the releases and follows from the current one alone: pages, metadata, what crawlers read. */
export async function renderBeside(releaseFolder: string, manifest: Manifest): Promise<Page[]> {
  return [...(await renderSite(releaseFolder, manifest)), ...renderCrawlerFiles(manifest)]
}
