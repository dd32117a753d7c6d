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

type Scalar = string | number | boolean
type Entries = Readonly<Record<string, Scalar>>
export type CitationFile = Readonly<Record<string, Scalar | readonly (Scalar | Entries)[]>>

export function renderCitationFile(dataset: DatasetDescription): string {
  return Object.entries(describeCitation(dataset))
    .map(([name, value]) => `${name}:${Array.isArray(value) ? list(value) : ` ${scalar(value as Scalar)}`}\n`)
    .join('')
}

function list(items: readonly (Scalar | Entries)[]): string {
  return items.map((item) => `\n  - ${typeof item === 'object' ? entries(item) : scalar(item)}`).join('')
}

function entries(item: Entries): string {
  return Object.entries(item)
    .map(([name, value]) => `${name}: ${scalar(value)}`)
    .join('\n    ')
}

/** JSON strings are valid YAML if these characters are escaped. */
function scalar(value: Scalar): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
