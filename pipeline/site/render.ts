import { toJson } from '../base/json.ts'
import { DATASET_PATH, type Manifest, releasePath } from '../contract/manifest.ts'
import { CROISSANT_PATH, METADATA_FILES } from '../contract/published-paths.ts'
import { licenseText } from '../contract/release-files.ts'
import { renderCitationFile } from '../release/documents/citation-file.ts'
import { renderLiveCroissant } from '../release/documents/croissant.ts'
import { renderDcatCatalog } from '../release/documents/dcat.ts'
import { describeDataset } from '../release/documents/describe.ts'
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

/** Renders the pages outside the releases, and their assets. */
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
  return [...scripts, ...renderAssets(), ...pages, ...renderCrawlerFiles(manifest, pages)]
}

export function renderMetadata(manifest: Manifest): Page[] {
  const dataset = describeDataset(manifest)
  const places = { release: `${releasePath(manifest.release)}/`, series: `${DATASET_PATH}/` }
  const texts: Record<(typeof METADATA_FILES)[number], string> = {
    LICENSE: licenseText(manifest.attribution, manifest.synthetic),
    'CITATION.cff': renderCitationFile(dataset),
    'dcat.jsonld': toJson(renderDcatCatalog(dataset, places)),
    [CROISSANT_PATH]: toJson(renderLiveCroissant(dataset, 'latest/')),
  }
  return METADATA_FILES.map((path) => ({ path, text: texts[path] }))
}
