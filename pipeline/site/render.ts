import { DATASET_PATH } from '../contract/manifest.ts'
import { renderCitationFile } from '../metadata/citation-file.ts'
import { renderLiveCroissant } from '../metadata/croissant.ts'
import { renderDcatCatalog } from '../metadata/dcat.ts'
import { licenseText, toJson } from '../release/files.ts'
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
  const { manifest, dataset, release } = facts
  const { names, pages: scripts } = await bundleBrowser()
  const pages = [
    landingPage(facts, { copyScript: names['copy.ts'] ?? '', code: codeSection(facts) }),
    explorePage(facts, names),
    ...modelsPages(facts),
    ...modelPages(facts),
    ...coveragePages(facts),
    ...changelogPages(facts),
  ]
  const places = { release, series: `${DATASET_PATH}/` }
  return [
    ...scripts,
    ...renderAssets(),
    ...pages,
    ...renderCrawlerFiles(manifest, pages),
    { path: 'LICENSE', text: licenseText(manifest.attribution, manifest.synthetic) },
    { path: 'CITATION.cff', text: renderCitationFile(dataset) },
    { path: 'dcat.jsonld', text: toJson(renderDcatCatalog(dataset, places)) },
    { path: `${DATASET_PATH}/croissant.json`, text: toJson(renderLiveCroissant(dataset, 'latest/')) },
  ]
}
