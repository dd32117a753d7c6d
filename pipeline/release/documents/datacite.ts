import { citationOf } from './citation.ts'
import type { Caveat, DatasetDescription } from './describe.ts'

/**
 * `datacite.json`, DataCite Metadata Schema 4.6 as JSON, as repositories take it. Inside a release it has no DOI, because
 * the release is made before it is deposited.
 */
export function renderDatacite(dataset: DatasetDescription): unknown {
  const { publisher, page, as_of, start_date, end_date, days, rows, files, name, release, method, caveats } = dataset
  const { author, title, abstract, year, version, doi, concept_doi, license, content_hash, keywords } =
    citationOf(dataset)
  const { ror } = publisher
  const organization = {
    name: author,
    nameType: 'Organizational',
    ...(ror && { nameIdentifiers: [{ nameIdentifier: ror, nameIdentifierScheme: 'ROR', schemeUri: ROR }] }),
  }
  return {
    ...(doi !== undefined && { doi }),
    url: page,
    types: { resourceTypeGeneral: 'Dataset', resourceType: 'Time series' },
    creators: [organization],
    titles: [{ title, lang: 'en' }],
    publisher: {
      name: author,
      ...(ror && { publisherIdentifier: ror, publisherIdentifierScheme: 'ROR', schemeUri: ROR }),
    },
    publicationYear: year,
    subjects: keywords.map((subject) => ({ subject, lang: 'en' })),
    dates: [
      { date: as_of, dateType: 'Issued' },
      { date: `${start_date}/${end_date}`, dateType: 'Collected' },
    ],
    language: 'en',
    alternateIdentifiers: [
      { alternateIdentifier: page, alternateIdentifierType: 'URL' },
      { alternateIdentifier: `${name}/${release}`, alternateIdentifierType: 'Release' },
      { alternateIdentifier: content_hash, alternateIdentifierType: 'SHA-256 of the rows as CSV' },
    ],
    relatedIdentifiers: [
      ...(concept_doi === undefined ? [] : [related('IsVersionOf', concept_doi, 'DOI')]),
      ...(dataset.previous === undefined ? [] : [related('IsNewVersionOf', dataset.previous.page, 'URL')]),
    ],
    sizes: [`${days} days`, `${rows} rows`, `${files.reduce((sum, { bytes }) => sum + bytes, 0)} bytes`],
    formats: [...new Set(files.map(({ media_type }) => media_type.split(';')[0]))],
    version,
    rightsList: [
      {
        rights: license.title,
        rightsUri: license.path,
        rightsIdentifier: license.name,
        rightsIdentifierScheme: 'SPDX',
        schemeUri: 'https://spdx.org/licenses/',
        lang: 'en',
      },
    ],
    descriptions: [
      { description: abstract, descriptionType: 'Abstract', lang: 'en' },
      { description: method, descriptionType: 'Methods', lang: 'en' },
      { description: whatToKnow(caveats), descriptionType: 'TechnicalInfo', lang: 'en' },
      { description: dataset.attribution, descriptionType: 'Other', lang: 'en' },
    ],
    schemaVersion: 'http://datacite.org/schema/kernel-4',
  }
}

function whatToKnow(caveats: readonly Caveat[]): string {
  return caveats.map(({ name, text }) => `${name}: ${text}`).join('\n\n')
}

const ROR = 'https://ror.org/'

function related(relationType: string, relatedIdentifier: string, relatedIdentifierType: 'DOI' | 'URL'): unknown {
  return { relationType, relatedIdentifier, relatedIdentifierType, resourceTypeGeneral: 'Dataset' }
}
