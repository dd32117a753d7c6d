import type { DatasetDescription } from './describe.ts'
import type { FieldDescription } from './fields.ts'
import type { FileDescription } from './files.ts'
import { contactOf } from './publisher.ts'

const PROFILES = 'https://datapackage.org/profiles/2.0'

/** `datapackage.json`, Frictionless Data Package 2.0 (https://datapackage.org). */
export function renderDataPackage(dataset: DatasetDescription): unknown {
  const { publisher, license } = dataset
  const { email } = contactOf(publisher)
  return {
    $schema: `${PROFILES}/datapackage.json`,
    name: dataset.name,
    id: dataset.cited_at,
    title: dataset.title,
    description: dataset.description,
    homepage: publisher.url,
    version: dataset.data_version,
    created: dataset.as_of,
    keywords: dataset.keywords,
    licenses: [license],
    sources: [{ title: `Usage logs of the gateway that ${publisher.name} publishes from`, path: publisher.url }],
    contributors: [
      {
        title: publisher.name,
        path: publisher.url,
        ...(email !== undefined && { email }),
        roles: ['creator', 'publisher'],
      },
    ],
    release: dataset.release,
    synthetic: dataset.synthetic,
    start_date: dataset.start_date,
    end_date: dataset.end_date,
    provisional_from: dataset.provisional_from,
    content_hash: dataset.content_hash,
    ...(dataset.tables && { tables: dataset.tables }),
    attribution: dataset.attribution,
    method: dataset.method,
    ...(dataset.disclosure && { disclosure: dataset.disclosure.statement }),
    caveats: dataset.caveats,
    resources: dataset.files.map((file) => resource(file, dataset)),
  }
}

/** No size for Parquet: the reference implementation does not count its bytes and then reports a mismatch. */
function resource(file: FileDescription, dataset: DatasetDescription): unknown {
  const isTable = file.fields !== undefined && file.format !== 'json'
  return {
    $schema: `${PROFILES}/dataresource.json`,
    name: file.path.replaceAll('.', '-'),
    path: file.path,
    title: file.title,
    ...(isTable && { type: 'table' }),
    format: file.format,
    mediatype: file.compression === undefined ? file.content_type : file.media_type,
    ...(file.format !== 'parquet' && { encoding: 'utf-8', bytes: file.bytes }),
    hash: `sha256:${file.sha256}`,
    ...(isTable && file.rows !== undefined && { rows: file.rows }),
    ...(isTable && file.format === 'csv' && { dialect: DIALECT }),
    ...(isTable && file.fields !== undefined && { schema: tableSchema(file.fields, file.key ?? dataset.key) }),
  }
}

const DIALECT = {
  $schema: `${PROFILES}/tabledialect.json`,
  header: true,
  delimiter: ',',
  lineTerminator: '\n',
  quoteChar: '"',
  doubleQuote: true,
}

/** If every column is required, no text stands for a missing value. */
function tableSchema(fields: readonly FieldDescription[], primaryKey: readonly string[]): unknown {
  const isComplete = fields.every(({ constraints }) => constraints.required)
  return {
    $schema: `${PROFILES}/tableschema.json`,
    fields: fields.map(({ name, title, description, type, unit, constraints, example }) => {
      return { name, type, title, description, unit, constraints, example }
    }),
    fieldsMatch: 'exact',
    primaryKey,
    missingValues: isComplete ? [] : [''],
  }
}
