import { toJson } from '../base/json.ts'
import { DATASET_PATH } from '../contract/manifest.ts'
import { METADATA_FILES } from '../contract/published-paths.ts'
import { licenseText } from '../contract/release-files.ts'
import { renderCitationFile } from '../release/documents/citation-file.ts'
import { renderLiveCroissant } from '../release/documents/croissant.ts'
import { renderDcatCatalog } from '../release/documents/dcat.ts'
import { renderAssets } from './assets.ts'
import { bundleBrowser } from './bundle.ts'
import { changelogPages } from './changelog.ts'
import { codeSection } from './code.ts'
import { coveragePages } from './coverage.ts'
import { renderCrawlerFiles } from './crawlers.ts'
import { explorePage } from './explore.ts'
import type { SiteFacts } from './facts.ts'
import { landingPage } from './landing.ts'
import type { Page } from './layout.ts'
import { modelPages } from './model-page.ts'
import { modelsPages } from './models.ts'

/** Renders all that stands beside the releases and follows from them: pages, their assets, the licence, metadata. */
export async function renderSite(facts: SiteFacts): Promise<Page[]> {
  const { manifest } = facts
  const { names, pages: scripts } = await bundleBrowser()
  const pages = [
    landingPage(facts, { copyScript: names['copy.ts'] ?? '', code: codeSection(facts) }),
    explorePage(facts, names),
    ...modelsPages(facts),
    ...modelPages(facts),
    ...coveragePages(facts),
    ...changelogPages(facts),
  ]
  return [...scripts, ...renderAssets(), ...pages, ...renderCrawlerFiles(manifest, pages), ...renderMetadata(facts)]
}

/** Renders the metadata beside the releases: of these files a copy on any host has the same bytes. */
export function renderMetadata({ manifest, dataset, release }: SiteFacts): Page[] {
  const places = { release, series: `${DATASET_PATH}/` }
  const texts: Record<(typeof METADATA_FILES)[number], string> = {
    LICENSE: licenseText(manifest.attribution, manifest.synthetic),
    'CITATION.cff': renderCitationFile(dataset),
    'dcat.jsonld': toJson(renderDcatCatalog(dataset, places)),
    [`${DATASET_PATH}/croissant.json`]: toJson(renderLiveCroissant(dataset, 'latest/')),
  }
  return METADATA_FILES.map((path) => ({ path, text: texts[path] }))
}
