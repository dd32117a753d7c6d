/** A field of RFC 4180 and what ends it: a comma, or a line ending after the last one of a record. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n)/y

/** The records of a CSV text, the header too. What follows the last line ending is left out. */
export function* csvRecords(text: string): Generator<string[]> {
  for (let start = 0, end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    const line = text.slice(start, end)
    const isQuoted = line.includes('"')
    const record = isQuoted ? quotedRecord(text, start) : line.split(',')
    start = isQuoted ? FIELD.lastIndex : end + 1
    yield record
  }
}

/** Leaves the place of the next record in `FIELD`. */
function quotedRecord(text: string, start: number): string[] {
  const record: string[] = []
  FIELD.lastIndex = start
  for (let field = FIELD.exec(text); ; field = FIELD.exec(text)) {
    if (field === null) throw new Error(`record ${JSON.stringify(text.slice(start, start + 100))} is not CSV`)
    const [, quoted, plain = '', end] = field
    record.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\n') return record
  }
}
