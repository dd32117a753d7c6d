import { CsvError, parse as parseCsv } from 'csv-parse/sync'
import { z } from 'zod'
import { CliError, withAllFaults } from '../base/errors.ts'
import { parseJson, withoutMark } from '../base/json.ts'
import { lineFinder } from '../base/json-text.ts'
import { counted } from '../base/numbers.ts'
import { type Alias, createRegistry, Model, type Registry, type RegistryFault } from './registry.ts'

/** A file as text, and its path as the maintainer wrote it. */
export interface NamedText {
  path: string
  text: string
}

/** Makes the registry from `models.json` and `aliases.csv`. Throws `CliError` with all faults of both, each with its line. */
export async function readRegistry(
  models: NamedText | undefined,
  aliases: NamedText | undefined,
  knownKeys: readonly string[],
): Promise<Registry> {
  const [listed, lines] = await withAllFaults([
    () => (models === undefined ? [] : parseJson(z.array(Model), models.text, models.path, CliError, knownKeys)),
    () => (aliases === undefined ? [] : parseAliases(aliases)),
  ])
  let lineOf: ReturnType<typeof lineFinder> | undefined
  const lineOfModel = (place: RegistryFault['place']) => {
    lineOf ??= lineFinder(withoutMark(models?.text ?? ''))
    return lineOf(place)
  }
  const describe = ({ of, place, problem }: RegistryFault) =>
    of === 'models'
      ? `${models?.path}:${lineOfModel(place)}: ${problem}`
      : `${aliases?.path}:${lines[Number(place[0])]?.line}: ${problem}`
  return createRegistry(listed, lines, describe)
}

const COLUMNS = ['alias', 'model_permaslug']

function parseAliases({ path, text }: NamedText): (Alias & { line: number })[] {
  const [header, ...lines] = linesOf(text, path)
  if (header === undefined) return []
  if (header.fields.toSorted().join() !== COLUMNS.join()) {
    throw new CliError(
      `${path}:${header.line}: must begin with the line ${COLUMNS.join()}, not ${header.fields.join()}`,
    )
  }
  const [alias, slug] = COLUMNS.map((column) => header.fields.indexOf(column))
  const faults = lines.flatMap(({ line, fields }) => {
    if (fields.length !== COLUMNS.length)
      return [`${path}:${line}: has ${counted(fields.length, 'field')}, not ${COLUMNS.length}`]
    return fields[alias ?? 0] === '' ? [`${path}:${line}: alias is empty`] : []
  })
  if (faults.length > 0) throw new CliError(faults)
  return lines.map(({ line, fields }) => ({
    line,
    alias: fields[alias ?? 0] ?? '',
    model_permaslug: fields[slug ?? 0] ?? '',
  }))
}

interface Line {
  line: number
  fields: string[]
}

const QUOTES: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote that does not end',
  INVALID_OPENING_QUOTE: 'a quote inside of a field that does not begin with one',
  CSV_INVALID_CLOSING_QUOTE: 'a quote inside of a quoted field; write it twice',
}

function linesOf(text: string, path: string): Line[] {
  const found: Line[] = []
  const on_record = (fields: string[], { lines }: { lines: number }) => {
    found.push({ line: lines, fields })
    return null
  }
  try {
    parseCsv(text, { bom: true, skip_empty_lines: true, relax_column_count: true, on_record })
    return found
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { code, lines, message } = error
    throw new CliError(`${path}:${lines}: ${QUOTES[code] ?? message}`)
  }
}
