import { toJson } from '../../base/json.ts'
import { renderBibtex } from './bibtex.ts'
import { renderCitationFile } from './citation-file.ts'
import { renderCroissant } from './croissant.ts'
import { renderDataPackage } from './datapackage.ts'
import { renderDcat } from './dcat.ts'
import type { DatasetDescription } from './describe.ts'
import { DOCUMENT_KINDS, type DocumentPath } from './document-kinds.ts'
import { licenseText } from './license.ts'
import { renderReadme } from './readme.ts'

interface MetadataDocument {
  path: string
  media_type: string
  text: string
}

/** What each document says: a text, or JSON. */
const RENDERERS: Readonly<Record<DocumentPath, (dataset: DatasetDescription) => unknown>> = {
  'datapackage.json': renderDataPackage,
  'croissant.json': renderCroissant,
  'dcat.jsonld': renderDcat,
  'CITATION.cff': renderCitationFile,
  'citation.bib': renderBibtex,
  'README.md': renderReadme,
  LICENSE: ({ attribution, synthetic }) => licenseText(attribution, synthetic),
}

/** The metadata of a release, in manifest order. Equal descriptions give equal bytes. */
export function renderDocuments(dataset: DatasetDescription): MetadataDocument[] {
  const kinds = Object.entries(DOCUMENT_KINDS) as [DocumentPath, (typeof DOCUMENT_KINDS)[DocumentPath]][]
  return kinds.map(([path, { media_type }]) => {
    const content = RENDERERS[path](dataset)
    return { path, media_type, text: typeof content === 'string' ? content : toJson(content) }
  })
}
