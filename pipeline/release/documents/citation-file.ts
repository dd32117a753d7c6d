import { toYaml, type YamlDocument } from '../../base/yaml.ts'
import { citationOf } from './citation.ts'
import type { DatasetDescription } from './describe.ts'
import { contactOf } from './publisher.ts'

/** `CITATION.cff`, Citation File Format 1.2.0. Its version is the release name, which can be fetched. */
export function describeCitation(dataset: DatasetDescription): CitationFile {
  const { publisher } = dataset
  const {
    author,
    title,
    abstract,
    date,
    version,
    data_version,
    url,
    doi,
    concept_doi,
    license,
    content_hash,
    keywords,
  } = citationOf(dataset)
  const { email } = contactOf(publisher)
  const entity = { name: author, website: publisher.url, ...(email !== undefined && { email }) }
  return {
    'cff-version': '1.2.0',
    message: `If you use this dataset, cite it as below and give credit: ${dataset.attribution}`,
    type: 'dataset',
    title,
    abstract,
    authors: [entity],
    contact: [entity],
    version,
    'date-released': date,
    license: license.name,
    url,
    ...(doi !== undefined && { doi }),
    identifiers: [
      { type: 'other', value: content_hash, description: 'SHA-256 of the rows as canonical CSV.' },
      { type: 'other', value: `data version ${data_version}`, description: 'Version of the data.' },
      ...(concept_doi === undefined
        ? []
        : [{ type: 'doi', value: concept_doi, description: 'All releases together.' }]),
    ],
    keywords,
  }
}

type CitationFile = YamlDocument

export function renderCitationFile(dataset: DatasetDescription): string {
  return toYaml(describeCitation(dataset))
}
