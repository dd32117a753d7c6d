/** A field of RFC 4180 and what ends it: a comma, or a line ending after the last one of a line. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n)/gy

/** The authors of a published `models.csv`, by slug. A model without an author is not among them. */
export function authorsOf(csv: string): Map<string, string> {
  const [header = [], ...lines] = csvLines(csv)
  const [slug, author] = [header.indexOf('model_permaslug'), header.indexOf('author')]
  const pairs = lines.map((line): [string, string] => [line[slug] ?? '', line[author] ?? ''])
  return new Map(pairs.filter((pair) => !pair.includes('')))
}

function csvLines(csv: string): string[][] {
  const lines: string[][] = []
  let line: string[] = []
  for (const [, quoted, plain = '', end] of csv.matchAll(FIELD)) {
    line.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    lines.push(line)
    line = []
  }
  return lines
}
