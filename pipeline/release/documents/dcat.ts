import type { DatasetDescription } from './describe.ts'
import type { FileDescription } from './files.ts'
import { contactOf } from './publisher.ts'

type Node = Record<string, unknown>

export interface DcatPlaces {
  release: string
  series: string
}

/** `dcat.jsonld` of a release (DCAT 3), with paths relative to the file. */
export function renderDcat(dataset: DatasetDescription): unknown {
  return { '@context': CONTEXT, ...describeRelease(dataset, { release: './', series: '../../' }) }
}

/** `dcat.jsonld` of the public folder: the catalog, the series of releases and the current release. */
export function renderDcatCatalog(dataset: DatasetDescription, places: DcatPlaces): unknown {
  const publisher = agent(dataset)
  return {
    '@context': CONTEXT,
    '@id': './',
    '@type': 'dcat:Catalog',
    'dct:title': text(`Datasets of ${dataset.publisher.name}`),
    'dct:description': text(dataset.publisher.description),
    'dct:publisher': publisher,
    'dct:license': { '@id': dataset.license.path },
    'dct:modified': instant(dataset.as_of),
    'foaf:homepage': { '@id': dataset.publisher.url },
    'dcat:dataset': [
      {
        '@id': places.series,
        '@type': 'dcat:DatasetSeries',
        'dct:title': text(dataset.title),
        'dct:description': text(dataset.description),
        'dct:publisher': publisher,
        'dct:license': { '@id': dataset.license.path },
        'dct:accrualPeriodicity': DAILY,
      },
      describeRelease(dataset, places),
    ],
  }
}

function describeRelease(dataset: DatasetDescription, { release, series }: DcatPlaces): Node {
  const { publisher, license } = dataset
  const { email, url } = contactOf(publisher)
  return {
    '@id': release,
    '@type': 'dcat:Dataset',
    'dct:identifier': `${dataset.name}/${dataset.release}`,
    'dct:title': text(dataset.title),
    'dct:description': text(dataset.description),
    'dct:creator': agent(dataset),
    'dct:publisher': agent(dataset),
    'dct:license': { '@id': license.path },
    'dct:rights': { '@type': 'dct:RightsStatement', 'rdfs:label': text(dataset.attribution) },
    'dct:issued': instant(dataset.as_of),
    'dct:language': { '@id': 'http://id.loc.gov/vocabulary/iso639-1/en' },
    'dct:accrualPeriodicity': DAILY,
    'dct:temporal': {
      '@type': 'dct:PeriodOfTime',
      'dcat:startDate': { '@type': 'xsd:date', '@value': dataset.start_date },
      'dcat:endDate': { '@type': 'xsd:date', '@value': dataset.end_date },
    },
    ...temporalResolution({ table: 'daily' }),
    'dcat:version': dataset.data_version,
    'dcat:inSeries': { '@id': series },
    'dcat:keyword': dataset.keywords.map(text),
    'dcat:landingPage': { '@id': publisher.url },
    'dcat:contactPoint': {
      '@type': 'vcard:Organization',
      'vcard:fn': publisher.name,
      ...(email !== undefined && { 'vcard:hasEmail': { '@id': `mailto:${email}` } }),
      ...(url !== undefined && { 'vcard:hasURL': { '@id': url } }),
      ...(email === undefined && url === undefined && { 'vcard:note': publisher.contact }),
    },
    'skos:scopeNote': dataset.caveats.map((caveat) => text(`${caveat.name}: ${caveat.text}`)),
    'dcat:distribution': dataset.files.map((file) => distribution(file, dataset, release)),
  }
}

function distribution(file: FileDescription, dataset: DatasetDescription, release: string): Node {
  const place = { '@id': release === './' ? file.path : `${release}${file.path}` }
  return {
    '@type': 'dcat:Distribution',
    'dct:title': text(file.title),
    'dct:license': { '@id': dataset.license.path },
    'dcat:accessURL': place,
    'dcat:downloadURL': place,
    'dcat:mediaType': mediaType(file.content_type),
    ...(file.compression !== undefined && { 'dcat:compressFormat': mediaType('application/gzip') }),
    ...temporalResolution(file),
    'dcat:byteSize': { '@type': 'xsd:nonNegativeInteger', '@value': String(file.bytes) },
    'spdx:checksum': {
      '@type': 'spdx:Checksum',
      'spdx:algorithm': { '@id': 'spdx:checksumAlgorithm_sha256' },
      'spdx:checksumValue': { '@type': 'xsd:hexBinary', '@value': file.sha256 },
    },
  }
}

const DURATIONS = { daily: 'P1D', weekly: 'P7D', monthly: 'P1M' } as const

function temporalResolution({ table }: Pick<FileDescription, 'table'>): Node {
  if (table === undefined) return {}
  return { 'dcat:temporalResolution': { '@type': 'xsd:duration', '@value': DURATIONS[table] } }
}

function agent({ publisher }: DatasetDescription): Node {
  return { '@type': 'foaf:Organization', 'foaf:name': publisher.name, 'foaf:homepage': { '@id': publisher.url } }
}

function text(value: string): Node {
  return { '@language': 'en', '@value': value }
}

function instant(value: string): Node {
  return { '@type': 'xsd:dateTime', '@value': value }
}

function mediaType(value: string): Node {
  return { '@id': `https://www.iana.org/assignments/media-types/${value}` }
}

const DAILY = { '@id': 'http://publications.europa.eu/resource/authority/frequency/DAILY' }

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
