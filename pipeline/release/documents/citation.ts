import { citationText } from '../../contract/citation.ts'
import { oneLine } from '../../contract/one-line.ts'
import { type DatasetDescription, SYNTHETIC_NOTICE } from './describe.ts'

/** What every citation of a release says, each text on one line. Each format renders these fields and no others. */
export interface Citation {
  /** For formats whose entries have names: letters, digits and underscores. */
  key: string
  /** An organization, which is also the publisher. */
  author: string
  title: string
  abstract: string
  /** When the release was made: YYYY-MM-DD. */
  date: string
  year: string
  month: string
  day: string
  /** The name of the release, by which its numbers can be fetched. */
  version: string
  data_version: string
  /** The page of the release, or its DOI as an address. */
  url: string
  doi: string | undefined
  concept_doi: string | undefined
  license: DatasetDescription['license']
  content_hash: string
  keywords: readonly string[]
  note: string
}

export function citationOf(dataset: DatasetDescription): Citation {
  const { publisher, release, as_of, data_version, license, content_hash, synthetic } = dataset
  const [date = ''] = as_of.split('T')
  const [year = '', month = '', day = ''] = date.split('-')
  const notes = [
    `Data set, release ${release}, data version ${data_version}, as of ${as_of}, ${license.name}, ${content_hash}`,
    ...(synthetic ? [SYNTHETIC_NOTICE] : []),
  ]
  return {
    key: `${keyOf(publisher.name)}_rankings_daily_${release}`,
    author: oneLine(publisher.name),
    title: oneLine(dataset.title),
    abstract: oneLine(dataset.description),
    ...{ date, year, month, day },
    version: release,
    data_version,
    url: dataset.cited_at,
    doi: dataset.doi,
    concept_doi: dataset.concept_doi,
    license,
    content_hash,
    keywords: dataset.keywords,
    note: notes.join('. '),
  }
}

function keyOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '')
  return plain === '' ? 'publisher' : plain
}

/** The citation for people. */
export function citationSentence(dataset: DatasetDescription): string {
  const { version: release, ...citation } = citationOf(dataset)
  return citationText({ ...citation, release })
}
