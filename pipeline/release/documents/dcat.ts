import { doiUrl } from '../../contract/doi.ts'
import { citationOf, citationSentence } from './citation.ts'
import type { DatasetDescription } from './describe.ts'
import type { FileDescription } from './files.ts'
import { contactOf } from './publisher.ts'

type Node = Record<string, unknown>

/** Addresses, relative to the document. */
interface DcatPlaces {
  /** Folders of releases, each with a slash at its end. */
  release: string
  previous: string | undefined
  /** The folder of the dataset. */
  series: string
}

/** The places around the public folder's `dcat.jsonld`. */
interface CatalogPlaces extends DcatPlaces {
  /** The first release that was not withdrawn: its folder, and when it was made. */
  first: { folder: string; as_of: string }
  /** What the operations of the API begin with, and the page about it. */
  api: string
  api_page: string
}

/** `dcat.jsonld` of a release (DCAT 3, DCAT-AP 3), with paths relative to the file. */
export function renderDcat(dataset: DatasetDescription): unknown {
  const previous = dataset.previous && `../${dataset.previous.release}/`
  const places = { release: './', previous, series: '../../' }
  return {
    '@context': CONTEXT,
    ...describeRelease(dataset, places),
    'dcat:inSeries': describeSeries(dataset, places.series),
  }
}

/** `dcat.jsonld` of the public folder: the catalog, the series of releases, the current release and the API. */
export function renderDcatCatalog(dataset: DatasetDescription, places: CatalogPlaces): unknown {
  const { publisher, license } = dataset
  const { release, series, first } = places
  return {
    '@context': CONTEXT,
    '@id': './',
    '@type': 'dcat:Catalog',
    'dct:title': text(`Datasets of ${publisher.name}`),
    'dct:description': text(publisher.description),
    'dct:publisher': agent(dataset),
    'dct:license': licenseOf(license),
    'dct:issued': instant(first.as_of),
    'dct:modified': instant(dataset.as_of),
    'dct:language': ENGLISH,
    'foaf:homepage': { '@id': publisher.url, '@type': 'foaf:Document' },
    'dcat:themeTaxonomy': THEMES,
    'dcat:service': service(dataset, places),
    'dcat:dataset': [
      {
        ...describeSeries(dataset, series),
        'dct:issued': instant(first.as_of),
        'dcat:first': ref(first.folder),
        'dcat:last': ref(release),
        'dcat:hasCurrentVersion': ref(release),
        'dcat:hasVersion': ref(release),
      },
      describeRelease(dataset, places),
    ],
  }
}

function describeSeries(dataset: DatasetDescription, series: string): Node {
  return {
    '@id': series,
    '@type': ['dcat:DatasetSeries', 'dcat:Dataset'],
    ...commonOf(dataset),
    'dct:accrualPeriodicity': DAILY,
    ...(dataset.concept_doi !== undefined && { 'dct:identifier': doiUrl(dataset.concept_doi) }),
  }
}

/**
 * The API, where a server runs. Each copy of the folder has its default answers at the same addresses, with `.json` behind
 * them, and a page that says what it has.
 */
function service(dataset: DatasetDescription, { api, api_page, series, release }: CatalogPlaces): Node {
  return {
    '@id': `${api_page}#service`,
    '@type': 'dcat:DataService',
    'dct:title': text(`API of ${dataset.title}`),
    'dct:description': text(
      'Any dates, models and periods as JSON, where a server runs; a copy on a static host has the default answers.',
    ),
    'dct:publisher': agent(dataset),
    'dct:license': licenseOf(dataset.license),
    'dct:accessRights': PUBLIC,
    'dcat:contactPoint': contactPoint(dataset),
    'dcat:keyword': dataset.keywords.map(text),
    'dcat:theme': TECHNOLOGY,
    'dcat:endpointURL': ref(api),
    'dcat:endpointDescription': ref(api_page),
    'dcat:servesDataset': [ref(series), ref(release)],
  }
}

function describeRelease(dataset: DatasetDescription, { release, previous, series }: DcatPlaces): Node {
  const { license, name } = dataset
  const citation = citationOf(dataset)
  return {
    '@id': release,
    '@type': 'dcat:Dataset',
    'dct:identifier': [citation.url, `${name}/${citation.version}`],
    ...commonOf(dataset),
    'dct:creator': agent(dataset),
    'dct:license': licenseOf(license),
    'dct:rights': { '@type': 'dct:RightsStatement', 'rdfs:label': text(dataset.attribution) },
    'dct:bibliographicCitation': text(citationSentence(dataset)),
    'dct:issued': instant(dataset.as_of),
    'dct:temporal': {
      '@type': 'dct:PeriodOfTime',
      'dcat:startDate': { '@type': 'xsd:date', '@value': dataset.start_date },
      'dcat:endDate': { '@type': 'xsd:date', '@value': dataset.end_date },
    },
    ...temporalResolution({ table: 'daily' }),
    'dcat:version': dataset.data_version,
    'dcat:isVersionOf': ref(series),
    'dcat:inSeries': ref(series),
    ...(previous !== undefined && { 'dcat:prev': ref(previous), 'dcat:previousVersion': ref(previous) }),
    'dcat:landingPage': { '@id': dataset.page, '@type': 'foaf:Document' },
    'skos:scopeNote': dataset.caveats.map((caveat) => text(`${caveat.name}: ${caveat.text}`)),
    'dcat:distribution': dataset.files.map((file) => distribution(file, dataset, release)),
  }
}

/** What a release and their series have in common. */
function commonOf(dataset: DatasetDescription): Node {
  return {
    'dct:title': text(dataset.title),
    'dct:description': text(dataset.description),
    'dct:publisher': agent(dataset),
    'dct:accessRights': PUBLIC,
    'dct:language': ENGLISH,
    'dcat:theme': TECHNOLOGY,
    'dcat:keyword': dataset.keywords.map(text),
    'dcat:contactPoint': contactPoint(dataset),
  }
}

function contactPoint({ publisher }: DatasetDescription): Node {
  const { email, url } = contactOf(publisher)
  return {
    '@type': ['vcard:Organization', 'vcard:Kind'],
    'vcard:fn': publisher.name,
    ...(email !== undefined && { 'vcard:hasEmail': ref(`mailto:${email}`) }),
    ...(url !== undefined && { 'vcard:hasURL': ref(url) }),
    ...(email === undefined && url === undefined && { 'vcard:note': publisher.contact }),
  }
}

function distribution(file: FileDescription, dataset: DatasetDescription, release: string): Node {
  const place = ref(release === './' ? file.path : `${release}${file.path}`)
  const type = FILE_TYPES[file.format]
  return {
    '@type': 'dcat:Distribution',
    'dct:title': text(file.path),
    'dct:description': text(file.title),
    'dct:license': licenseOf(dataset.license),
    'dcat:accessURL': place,
    'dcat:downloadURL': place,
    'dcat:mediaType': mediaType(file.content_type),
    ...(type !== undefined && { 'dct:format': concept(`${EU}/file-type/${type}`, 'dct:MediaTypeOrExtent') }),
    ...(file.compression !== undefined && { 'dcat:compressFormat': mediaType('application/gzip') }),
    ...temporalResolution(file),
    'dcat:byteSize': { '@type': 'xsd:nonNegativeInteger', '@value': String(file.bytes) },
    'spdx:checksum': {
      '@type': 'spdx:Checksum',
      'spdx:algorithm': { '@id': 'spdx:checksumAlgorithm_sha256', '@type': 'spdx:ChecksumAlgorithm' },
      'spdx:checksumValue': { '@type': 'xsd:hexBinary', '@value': file.sha256 },
    },
  }
}

/** In the file types of the EU, which have none for lines of JSON. */
const FILE_TYPES: Partial<Record<FileDescription['format'], string>> = {
  parquet: 'PARQUET',
  csv: 'CSV',
  json: 'JSON',
  svg: 'SVG',
  html: 'HTML',
}

const DURATIONS = { daily: 'P1D', weekly: 'P7D', monthly: 'P1M' } as const

function temporalResolution({ table }: Pick<FileDescription, 'table'>): Node {
  if (table === undefined) return {}
  return { 'dcat:temporalResolution': { '@type': 'xsd:duration', '@value': DURATIONS[table] } }
}

function agent({ publisher }: DatasetDescription): Node {
  return {
    ...(publisher.ror !== undefined && { '@id': publisher.ror }),
    '@type': ['foaf:Organization', 'foaf:Agent'],
    'foaf:name': publisher.name,
    'foaf:homepage': { '@id': publisher.url, '@type': 'foaf:Document' },
  }
}

/** By the address that people know; catalogues of the EU know it by another. */
function licenseOf({ path }: DatasetDescription['license']): Node {
  return { '@id': path, '@type': 'dct:LicenseDocument', 'skos:exactMatch': ref(`${EU}/licence/CC_BY_4_0`) }
}

function ref(id: string): Node {
  return { '@id': id }
}

function text(value: string): Node {
  return { '@language': 'en', '@value': value }
}

function instant(value: string): Node {
  return { '@type': 'xsd:dateTime', '@value': value }
}

function mediaType(value: string): Node {
  return { '@id': `https://www.iana.org/assignments/media-types/${value}`, '@type': 'dct:MediaType' }
}

/** A concept of a vocabulary, with the class that DCAT-AP wants it to have. */
function concept(id: string, type: string): Node {
  return { '@id': id, '@type': type }
}

/** The vocabularies of the Publications Office of the EU. */
const EU = 'http://publications.europa.eu/resource/authority'
const DAILY = concept(`${EU}/frequency/DAILY`, 'dct:Frequency')
const ENGLISH = concept(`${EU}/language/ENG`, 'dct:LinguisticSystem')
const PUBLIC = concept(`${EU}/access-right/PUBLIC`, 'dct:RightsStatement')
const THEMES = {
  ...concept(`${EU}/data-theme`, 'skos:ConceptScheme'),
  'dct:title': text('Data theme'),
}
const TECHNOLOGY = {
  ...concept(`${EU}/data-theme/TECH`, 'skos:Concept'),
  'skos:prefLabel': text('Science and technology'),
  'skos:inScheme': THEMES,
}

const CONTEXT = {
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  spdx: 'http://spdx.org/rdf/terms#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
} as const
