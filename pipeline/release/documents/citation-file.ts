import { toYaml, type YamlDocument } from '../../base/yaml.ts'
import type { DatasetDescription } from './describe.ts'
import { contactOf } from './publisher.ts'

/** `CITATION.cff`, Citation File Format 1.2.0. Its version is the release name, which can be fetched. */
export function describeCitation(dataset: DatasetDescription): CitationFile {
  const { publisher, as_of, release } = dataset
  const { email } = contactOf(publisher)
  const author = { name: publisher.name, website: publisher.url, ...(email !== undefined && { email }) }
  return {
    'cff-version': '1.2.0',
    message: `If you use this dataset, cite it as below and give credit: ${dataset.attribution}`,
    type: 'dataset',
    title: dataset.title,
    abstract: dataset.description,
    authors: [author],
    contact: [author],
    version: release,
    'date-released': as_of.slice(0, 10),
    license: dataset.license.name,
    url: publisher.url,
    identifiers: [
      { type: 'other', value: dataset.content_hash, description: 'SHA-256 of the rows as canonical CSV.' },
      { type: 'other', value: `data version ${dataset.data_version}`, description: 'Version of the data.' },
    ],
    keywords: dataset.keywords,
  }
}

export type CitationFile = YamlDocument

export function renderCitationFile(dataset: DatasetDescription): string {
  return toYaml(describeCitation(dataset))
}
