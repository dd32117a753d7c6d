import { doiUrl } from '../../contract/doi.ts'
import { citationOf } from './citation.ts'
import type { DatasetDescription } from './describe.ts'
import { contactOf } from './publisher.ts'

/** schema.org `Dataset` for Google Dataset Search. `release` is the release folder relative to the page that has it. */
export function schemaOrgDataset(dataset: DatasetDescription, release: string): unknown {
  const { publisher, doi, concept_doi } = dataset
  const citation = citationOf(dataset)
  const { email, url } = contactOf(publisher)
  const organization = {
    '@type': 'Organization',
    name: publisher.name,
    url: publisher.url,
    ...(publisher.ror && { sameAs: publisher.ror }),
    contactPoint: {
      '@type': 'ContactPoint',
      contactType: 'data publisher',
      ...(email === undefined ? { url: url ?? publisher.url } : { email }),
    },
  }
  return {
    '@context': 'https://schema.org/',
    '@type': 'Dataset',
    name: dataset.title,
    alternateName: dataset.name,
    description: [dataset.description, ...dataset.caveats.map(({ text }) => text)].join(' '),
    url: citation.url,
    identifier: [
      ...(doi === undefined ? [] : [doiUrl(doi)]),
      citation.content_hash,
      `${dataset.name}/${citation.version}`,
    ],
    ...(concept_doi !== undefined && {
      isPartOf: {
        '@type': 'Dataset',
        '@id': doiUrl(concept_doi),
        name: dataset.title,
        description: publisher.description,
      },
    }),
    license: dataset.license.path,
    creditText: dataset.attribution,
    isAccessibleForFree: true,
    creator: organization,
    publisher: organization,
    datePublished: dataset.as_of,
    dateModified: dataset.as_of,
    version: dataset.data_version,
    inLanguage: 'en',
    keywords: dataset.keywords,
    temporalCoverage: `${dataset.start_date}/${dataset.end_date}`,
    measurementTechnique: dataset.method,
    variableMeasured: dataset.fields.map(({ name, description, unit }) => {
      return { '@type': 'PropertyValue', name, description, unitText: unit }
    }),
    includedInDataCatalog: { '@type': 'DataCatalog', name: `Datasets of ${publisher.name}`, url: publisher.url },
    distribution: dataset.files.map((file) => ({
      '@type': 'DataDownload',
      name: file.path,
      description: file.title,
      contentUrl: `${release}${file.path}`,
      encodingFormat: file.compression === undefined ? file.content_type : file.media_type,
      contentSize: `${file.bytes} B`,
      sha256: file.sha256,
    })),
  }
}

/** JSON for a `<script>`: escaped so that nothing ends the element or opens a comment. */
export function toScriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
