import { csvRecords } from '../base/csv.ts'

/** The authors of a published `models.csv`, by slug. A model without an author is not among them. */
export function authorsOf(csv: string): Map<string, string> {
  const [header = [], ...records] = csvRecords(csv)
  const [slug, author] = [header.indexOf('model_permaslug'), header.indexOf('author')]
  const pairs = records.map((record): [string, string] => [record[slug] ?? '', record[author] ?? ''])
  return new Map(pairs.filter((pair) => !pair.includes('')))
}
