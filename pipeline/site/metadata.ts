import { toJson } from '../base/json.ts'
import type { Doi } from '../contract/doi.ts'
import { DATASET_PATH, type Manifest, releasePath } from '../contract/manifest.ts'
import { CROISSANT_PATH, METADATA_FILES } from '../contract/published-paths.ts'
import { licenseText } from '../contract/release-files.ts'
import { renderCitationFile } from '../release/documents/citation-file.ts'
import { renderLiveCroissant } from '../release/documents/croissant.ts'
import { renderDcatCatalog } from '../release/documents/dcat.ts'
import { describeDataset } from '../release/documents/describe.ts'
import type { Page } from './layout.ts'

/** The metadata beside the releases, for catalogues and reference managers. */
export function renderMetadata(manifest: Manifest, doi?: Doi): Page[] {
  const dataset = describeDataset(manifest, doi)
  const places = { release: `${releasePath(manifest.release)}/`, series: `${DATASET_PATH}/` }
  const texts: Record<(typeof METADATA_FILES)[number], string> = {
    LICENSE: licenseText(manifest.attribution, manifest.synthetic),
    'CITATION.cff': renderCitationFile(dataset),
    'dcat.jsonld': toJson(renderDcatCatalog(dataset, places)),
    [CROISSANT_PATH]: toJson(renderLiveCroissant(dataset, 'latest/')),
  }
  return METADATA_FILES.map((path) => ({ path, text: texts[path] }))
}
