import { CsvError, parse as parseCsv } from 'csv-parse/sync'
import { z } from 'zod'
import { contributorName, NO_CONTRIBUTOR } from '../base/contributor-name.ts'
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

function parseAliases(file: NamedText): (Alias & { line: number })[] {
  return pairsOf(file, ['alias', 'model_permaslug']).map(({ line, pair: [alias, model_permaslug] }) => {
    return { line, alias, model_permaslug }
  })
}

/**
 * Reads `owners.csv`: the owner of each contributor that is listed, both as `contributorName` spells them. Throws `CliError`
 * with all faults, each with its line.
 */
export function readOwners(file: NamedText): [contributor: string, owner: string][] {
  const lines = new Map<string, number>()
  const rows = pairsOf(file, ['contributor', 'owner']).map(({ line, pair }) => {
    return { line, pair, contributor: contributorName(pair[0]), owner: contributorName(pair[1]) }
  })
  const owned = new Set(rows.map(({ contributor }) => contributor))
  const problemOf = ({ line, pair, contributor, owner }: (typeof rows)[number]): string | undefined => {
    const nobody = pair.find((_, side) => isNobody(side === 0 ? contributor : owner))
    if (nobody !== undefined) return `${JSON.stringify(nobody)} names nobody`
    const earlier = lines.get(contributor ?? '')
    lines.set(contributor ?? '', line)
    if (earlier !== undefined) return `${JSON.stringify(pair[0])} has an owner in line ${earlier} already`
    if (owner === contributor || !owned.has(owner)) return undefined
    return `${JSON.stringify(pair[1])} has an owner itself; name that owner here, too`
  }
  const faults = rows.flatMap((row) => {
    const problem = problemOf(row)
    return problem === undefined ? [] : [`${file.path}:${row.line}: ${problem}`]
  })
  if (faults.length > 0) throw new CliError(faults)
  return rows.map(({ contributor, owner }) => [contributor ?? '', owner ?? ''])
}

function isNobody(name: string | null): boolean {
  return name === null || NO_CONTRIBUTOR.includes(name)
}

/** The rows of a CSV file of two columns, in whatever order it has them. The first must have a value. */
function pairsOf(
  { path, text }: NamedText,
  columns: readonly [string, string],
): { line: number; pair: [string, string] }[] {
  const [header, ...lines] = linesOf(text, path)
  if (header === undefined) return []
  if (header.fields.toSorted().join() !== columns.join()) {
    throw new CliError(
      `${path}:${header.line}: must begin with the line ${columns.join()}, not ${header.fields.join()}`,
    )
  }
  const isSwapped = header.fields[0] !== columns[0]
  const faults = lines.flatMap(({ line, fields }) => {
    if (fields.length !== columns.length)
      return [`${path}:${line}: has ${counted(fields.length, 'field')}, not ${columns.length}`]
    return fields[isSwapped ? 1 : 0] === '' ? [`${path}:${line}: ${columns[0]} is empty`] : []
  })
  if (faults.length > 0) throw new CliError(faults)
  return lines.map(({ line, fields: [first = '', second = ''] }) => {
    return { line, pair: isSwapped ? [second, first] : [first, second] }
  })
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
