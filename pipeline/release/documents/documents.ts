import { toJson } from '../../base/json.ts'
import { citation } from './bibtex.ts'
import { renderCitationFile } from './citation-file.ts'
import { renderCroissant } from './croissant.ts'
import { renderDataPackage } from './datapackage.ts'
import { type DatasheetEvidence, renderDatasheet } from './datasheet.ts'
import { renderDcat } from './dcat.ts'
import type { DatasetDescription } from './describe.ts'
import { renderReadme } from './readme.ts'

export interface MetadataDocument {
  path: string
  media_type: string
  text: string
}

/** The metadata of a release, in manifest order. Equal descriptions give equal bytes. */
export function renderDocuments(dataset: DatasetDescription, evidence: DatasheetEvidence = {}): MetadataDocument[] {
  return [
    { path: 'datapackage.json', media_type: 'application/json', text: toJson(renderDataPackage(dataset)) },
    { path: 'croissant.json', media_type: 'application/ld+json', text: toJson(renderCroissant(dataset)) },
    { path: 'dcat.jsonld', media_type: 'application/ld+json', text: toJson(renderDcat(dataset)) },
    { path: 'CITATION.cff', media_type: 'application/yaml; charset=utf-8', text: renderCitationFile(dataset) },
    { path: 'citation.bib', media_type: 'application/x-bibtex; charset=utf-8', text: citation(dataset) },
    { path: 'README.md', media_type: 'text/markdown; charset=utf-8', text: renderReadme(dataset) },
    { path: 'datasheet.md', media_type: 'text/markdown; charset=utf-8', text: renderDatasheet(dataset, evidence) },
  ]
}
