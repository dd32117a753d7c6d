import { doiUrl } from '../../contract/doi.ts'
import { renderBibtex } from './bibtex.ts'
import { citationOf } from './citation.ts'
import { type DatasetDescription, describeInFull } from './describe.ts'
import type { FieldDescription } from './fields.ts'
import type { FileDescription } from './files.ts'
import { contactOf } from './publisher.ts'
import { RAI, responsibleUse } from './responsible-use.ts'

/** Version of the schema, because the live data changes without a version. */
const LIVE_VERSION = '1.0.0'

/** `croissant.json` of a release (Croissant 1.1), with checksums, because its files never change. */
export function renderCroissant(dataset: DatasetDescription): unknown {
  return {
    ...about(dataset),
    url: citationOf(dataset).url,
    version: dataset.data_version,
    isLiveDataset: false,
    temporalCoverage: `${dataset.start_date}/${dataset.end_date}`,
    distribution: dataset.files.map((file) => ({
      ...fileObject(file, ''),
      contentSize: `${file.bytes} B`,
      sha256: file.sha256,
    })),
    recordSet: recordSets(dataset),
  }
}

/** `croissant.json` of the dataset: files below `latest`, so no sizes or checksums. */
export function renderLiveCroissant(dataset: DatasetDescription, latest: string): unknown {
  return {
    ...about(dataset),
    url: dataset.publisher.url,
    version: LIVE_VERSION,
    isLiveDataset: true,
    temporalCoverage: `${dataset.start_date}/..`,
    distribution: dataset.files.map((file) => fileObject(file, latest)),
    recordSet: recordSets(dataset),
  }
}

function about(dataset: DatasetDescription): Record<string, unknown> {
  const { publisher, doi } = dataset
  const organization = {
    '@type': 'sc:Organization',
    name: publisher.name,
    url: publisher.url,
    ...(publisher.ror && { sameAs: publisher.ror }),
    ...contactOf(publisher),
  }
  return {
    '@context': CONTEXT,
    '@type': 'sc:Dataset',
    conformsTo: ['http://mlcommons.org/croissant/1.1', RAI],
    name: dataset.title,
    description: describeInFull(dataset),
    license: dataset.license.path,
    creator: organization,
    publisher: organization,
    datePublished: dataset.as_of,
    dateModified: dataset.as_of,
    inLanguage: 'en',
    keywords: dataset.keywords,
    identifier: [
      ...(doi === undefined ? [] : [doiUrl(doi)]),
      `${dataset.name}/${dataset.release}`,
      dataset.content_hash,
    ],
    creditText: dataset.attribution,
    citeAs: renderBibtex(dataset),
    ...responsibleUse(dataset),
  }
}

function fileObject(file: FileDescription, base: string): Record<string, unknown> {
  return {
    '@type': 'cr:FileObject',
    '@id': file.path,
    name: file.path,
    description: file.title,
    contentUrl: `${base}${file.path}`,
    encodingFormat: encodingFormat(file),
  }
}

/** Croissant tools know Parquet by its unregistered media type. */
function encodingFormat({ format, content_type, compression, media_type }: FileDescription): string | string[] {
  if (compression !== undefined) return media_type
  return format === 'parquet' ? [content_type, 'application/x-parquet'] : content_type
}

/** One for each table in each plain format. */
function recordSets(dataset: DatasetDescription): unknown[] {
  return dataset.files
    .filter(({ format, compression }) => compression === undefined && (format === 'parquet' || format === 'csv'))
    .flatMap((file) =>
      file.fields === undefined ? [] : [recordSet(file, readable(file.fields), file.key ?? dataset.key)],
    )
}

/**
 * The columns that the reference implementation reads to the last digit. It reads a column of numbers with empty values
 * as floats, so numbers of tokens before and after a change, which may exceed 2^53, are left to the file.
 */
function readable(fields: readonly FieldDescription[]): readonly FieldDescription[] {
  return fields.filter(({ unit, constraints }) => unit !== 'token' || constraints.required)
}

function recordSet(file: FileDescription, fields: readonly FieldDescription[], key: readonly string[]): unknown {
  const name = file.path.replaceAll('.', '-')
  const left = (file.fields ?? []).filter((field) => !fields.includes(field)).map((field) => field.name)
  return {
    '@type': 'cr:RecordSet',
    '@id': name,
    name,
    description:
      left.length === 0 ? file.title : `${file.title}. The file also has ${left.join(' and ')}, as integers.`,
    key: key.map((field) => ({ '@id': `${name}/${field}` })),
    field: fields.map((field) => ({
      '@type': 'cr:Field',
      '@id': `${name}/${field.name}`,
      name: field.name,
      description: `${field.description} Unit: ${field.unit}.`,
      dataType: DATA_TYPES[field.type],
      source: { fileObject: { '@id': file.path }, extract: { column: field.name } },
    })),
  }
}

const DATA_TYPES = { date: 'sc:Date', string: 'sc:Text', integer: 'cr:Int64' } as const

/** From Appendix 1 of Croissant 1.1 and its reference implementation. */
const CONTEXT = {
  '@language': 'en',
  '@vocab': 'https://schema.org/',
  sc: 'https://schema.org/',
  cr: 'http://mlcommons.org/croissant/',
  rai: 'http://mlcommons.org/croissant/RAI/',
  dct: 'http://purl.org/dc/terms/',
  annotation: 'cr:annotation',
  arrayShape: 'cr:arrayShape',
  citeAs: 'cr:citeAs',
  column: 'cr:column',
  conformsTo: 'dct:conformsTo',
  containedIn: 'cr:containedIn',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  description: { '@container': '@language' },
  equivalentProperty: 'cr:equivalentProperty',
  examples: { '@id': 'cr:examples', '@type': '@json' },
  excludes: 'cr:excludes',
  extract: 'cr:extract',
  field: 'cr:field',
  fileObject: 'cr:fileObject',
  fileProperty: 'cr:fileProperty',
  fileSet: 'cr:fileSet',
  format: 'cr:format',
  includes: 'cr:includes',
  isArray: 'cr:isArray',
  isLiveDataset: 'cr:isLiveDataset',
  jsonPath: 'cr:jsonPath',
  key: 'cr:key',
  md5: 'cr:md5',
  name: { '@container': '@language' },
  parentField: 'cr:parentField',
  path: 'cr:path',
  readLines: 'cr:readLines',
  recordSet: 'cr:recordSet',
  references: 'cr:references',
  regex: 'cr:regex',
  repeated: 'cr:repeated',
  replace: 'cr:replace',
  samplingRate: 'cr:samplingRate',
  sdVersion: 'cr:sdVersion',
  separator: 'cr:separator',
  source: 'cr:source',
  subField: 'cr:subField',
  transform: 'cr:transform',
  unArchive: 'cr:unArchive',
  value: 'cr:value',
} as const
