import { CHECKSUMS_FILE } from '../../base/checksums.ts'
import { doiUrl } from '../../contract/doi.ts'
import { MANIFEST_FILE } from '../../contract/release-files.ts'
import { citationOf } from './citation.ts'
import { type DatasetDescription, describeInFull, SYNTHETIC_NOTICE } from './describe.ts'
import { DOCUMENT_KINDS } from './document-kinds.ts'
import type { FileDescription } from './files.ts'
import { contactOf } from './publisher.ts'

type Entity = Record<string, unknown>

const PATH = 'ro-crate-metadata.json'
const VERSION = 'https://w3id.org/ro/crate/1.2'

/** `ro-crate-metadata.json`, RO-Crate 1.2: the release folder as a crate. */
export function renderRoCrate(dataset: DatasetDescription): unknown {
  const { license, publisher } = dataset
  return {
    '@context': `${VERSION}/context`,
    '@graph': [
      { '@id': PATH, '@type': 'CreativeWork', about: ref('./'), conformsTo: ref(VERSION) },
      root(dataset),
      ...identifiers(dataset),
      { '@id': license.path, '@type': 'CreativeWork', name: license.title, description: 'The license of the data.' },
      {
        '@id': organizationId(dataset),
        '@type': 'Organization',
        name: citationOf(dataset).author,
        url: publisher.url,
        contactPoint: ref('#contact'),
      },
      contactPoint(dataset),
      making(dataset),
      ...[...dataset.files, ...OTHER_FILES].map(fileEntity),
    ],
  }
}

function root(dataset: DatasetDescription): Entity {
  const { title, version, url, keywords } = citationOf(dataset)
  const publisher = ref(organizationId(dataset))
  return {
    '@id': './',
    '@type': 'Dataset',
    name: `${title}, release ${version}`,
    description: describeInFull(dataset),
    identifier: identifiers(dataset).map((each) => ref(String(each['@id']))),
    url: dataset.page,
    'cite-as': url,
    license: ref(dataset.license.path),
    creditText: dataset.attribution,
    author: publisher,
    publisher,
    datePublished: dataset.as_of,
    version,
    inLanguage: 'en',
    keywords: keywords.join(', '),
    temporalCoverage: `${dataset.start_date}/${dataset.end_date}`,
    measurementTechnique: dataset.method,
    hasPart: [...dataset.files, ...OTHER_FILES].map(({ path }) => ref(path)),
    mentions: ref('#making'),
  }
}

function identifiers({ doi, name, release, content_hash }: DatasetDescription): Entity[] {
  const property = (id: string, propertyID: string, value: string) => {
    return { '@id': id, '@type': 'PropertyValue', name: propertyID, propertyID, value }
  }
  return [
    ...(doi === undefined ? [] : [{ ...property(doiUrl(doi), 'DOI', `doi:${doi}`), url: doiUrl(doi) }]),
    property('#release', 'release', `${name}/${release}`),
    property('#content-hash', 'content_hash', content_hash),
  ]
}

function organizationId({ publisher }: DatasetDescription): string {
  return publisher.ror ?? '#publisher'
}

function contactPoint({ publisher }: DatasetDescription): Entity {
  const { email, url } = contactOf(publisher)
  return {
    '@id': '#contact',
    '@type': 'ContactPoint',
    name: 'Contact of the publisher',
    contactType: 'data publisher',
    ...(email === undefined ? { url: url ?? publisher.url } : { email }),
    ...(email === undefined && url === undefined && { description: publisher.contact }),
  }
}

/** How the release was made. The raw logs are private: `provenance.json` has their hashes. */
function making(dataset: DatasetDescription): Entity {
  const { as_of, method, generator, synthetic } = dataset
  const programs = `Made by ${generator.name} ${generator.version} with DuckDB ${generator.duckdb}.`
  return {
    '@id': '#making',
    '@type': 'CreateAction',
    name: 'The build of this release',
    description: `${method} ${synthetic ? `${SYNTHETIC_NOTICE} ` : ''}${programs}`,
    agent: ref(organizationId(dataset)),
    endTime: as_of,
    result: ref('./'),
  }
}

function fileEntity({ path, title, media_type, bytes, sha256 }: DescribedFile): Entity {
  return {
    '@id': path,
    '@type': 'File',
    name: path,
    description: title,
    encodingFormat: media_type.split(';')[0],
    ...(bytes !== undefined && { contentSize: String(bytes) }),
    ...(sha256 !== undefined && { sha256 }),
  }
}

type DescribedFile = Pick<FileDescription, 'path' | 'title' | 'media_type'> &
  Partial<Pick<FileDescription, 'bytes' | 'sha256'>>

/** What describes the release. Documents do not describe each other: their sizes and hashes are in the manifest alone. */
const OTHER_FILES = Object.entries({
  ...DOCUMENT_KINDS,
  [MANIFEST_FILE]: { media_type: 'application/json', title: 'Every file with its size and hash' },
  [CHECKSUMS_FILE]: { media_type: 'text/plain', title: 'The hash of every file' },
})
  .filter(([path]) => path !== PATH)
  .map(([path, { media_type, title }]) => ({ path, title, media_type }))

function ref(id: string): { '@id': string } {
  return { '@id': id }
}
