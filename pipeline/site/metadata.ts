import { toJson } from '../base/json.ts'
import type { PublishedDois } from '../contract/dois.ts'
import { DATASET_PATH, type Manifest, type ReleaseIndex, releasePath } from '../contract/manifest.ts'
import { API_PAGE_PATH, CROISSANT_PATH, METADATA_FILES } from '../contract/published-paths.ts'
import { renderBibtex } from '../release/documents/bibtex.ts'
import { renderCitationFile } from '../release/documents/citation-file.ts'
import { renderLiveCroissant } from '../release/documents/croissant.ts'
import { renderDcatCatalog } from '../release/documents/dcat.ts'
import { describeDataset } from '../release/documents/describe.ts'
import { licenseText } from '../release/documents/license.ts'
import { citedBy } from '../release/dois.ts'
import { standingEntries } from '../release/index.ts'
import type { Page } from './layout.ts'

/** The metadata beside the releases, for catalogues and reference managers. */
export function renderMetadata(
  manifest: Manifest,
  { index, dois }: { index: ReleaseIndex; dois?: PublishedDois | undefined },
): Page[] {
  const dataset = describeDataset(...citedBy(manifest, dois))
  const folder = (release: string) => `${releasePath(release)}/`
  const standing = standingEntries(index)
  const [first = manifest] = standing
  const previous = standing.findLast(({ release }) => release < manifest.release)
  const places = {
    release: folder(manifest.release),
    previous: previous && folder(previous.release),
    series: `${DATASET_PATH}/`,
    first: { folder: folder(first.release), as_of: first.as_of },
    api: 'api/v1/',
    api_page: API_PAGE_PATH,
  }
  const texts: Record<(typeof METADATA_FILES)[number], string> = {
    LICENSE: licenseText(manifest.attribution, manifest.synthetic),
    'CITATION.cff': renderCitationFile(dataset),
    'citation.bib': renderBibtex(dataset),
    'dcat.jsonld': toJson(renderDcatCatalog(dataset, places)),
    [CROISSANT_PATH]: toJson(renderLiveCroissant(dataset, 'latest/')),
  }
  return METADATA_FILES.map((path) => ({ path, text: texts[path] }))
}
