import { citationOf } from './citation.ts'
import type { DatasetDescription } from './describe.ts'

/** `citation.ris`, for Zotero, EndNote and Mendeley. Its type for a data set is `DATA`; `ET` is the version. */
export function renderRis(dataset: DatasetDescription): string {
  const { author, title, abstract, date, year, version, doi, url, keywords, note } = citationOf(dataset)
  const lines: [tag: string, value: string][] = [
    ['TY', 'DATA'],
    ['AU', author],
    ['TI', title],
    ['PY', year],
    ['DA', date.replaceAll('-', '/')],
    ['PB', author],
    ['ET', version],
    ...(doi === undefined ? [] : [['DO', doi] as [string, string]]),
    ['UR', url],
    ['LA', 'en'],
    ['AB', abstract],
    ...keywords.map((keyword): [string, string] => ['KW', keyword]),
    ['N1', note],
    ['ER', ''],
  ]
  return lines.map(([tag, value]) => `${tag}  - ${value}\n`).join('')
}
