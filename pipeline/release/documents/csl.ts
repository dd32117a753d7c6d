import { citationOf } from './citation.ts'
import type { DatasetDescription } from './describe.ts'

/** `citation.csl.json`: one item of CSL 1.0.2 in a list, as citation processors read it. */
export function renderCsl(dataset: DatasetDescription): unknown {
  const { key, author, title, abstract, year, month, day, version, doi, url, keywords, note } = citationOf(dataset)
  return [
    {
      id: key,
      type: 'dataset',
      title,
      author: [{ literal: author }],
      issued: { 'date-parts': [[Number(year), Number(month), Number(day)]] },
      publisher: author,
      version,
      ...(doi !== undefined && { DOI: doi }),
      URL: url,
      language: 'en',
      abstract,
      keyword: keywords.join(', '),
      note,
    },
  ]
}
