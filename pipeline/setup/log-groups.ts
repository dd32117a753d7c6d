import { dirname, join } from 'node:path'
import type { Database } from '../base/database.ts'
import { isInterrupt, reasonOf } from '../base/errors.ts'
import { readHead } from '../raw/files/decompress.ts'
import {
  type InspectEffects,
  type Inspection,
  inspectFile,
  MODEL_TO_SAY,
  type Numbers,
  type SourceEntry,
  withFiles,
} from '../raw/inspect.ts'
import type { FoundLog, Unfit } from './found-logs.ts'

/** Raw files that one source reads. */
export interface LogGroup {
  /** Without the files. */
  entry: Omit<SourceEntry, 'name' | 'files'>
  lacksOffset: boolean
  unread: Set<string>
  numbers: Numbers | undefined
  files: FoundLog[]
}

/** Of a file's beginning, to see which columns it has. */
const HEAD_BYTES = 65_536

/** Files with the same columns of which the first records are looked at before the next ones count as alike. */
const MOST_TRIED = 3

/** Groups raw files by how they are to be read. */
export async function groupLogs(
  files: readonly FoundLog[],
  effects: InspectEffects,
): Promise<{ groups: LogGroup[]; unfit: Unfit[] }> {
  const groups = new Map<string, LogGroup>()
  const unfit: Unfit[] = []
  const strange: FoundLog[] = []
  await withFiles(files, effects, async (database, folder) => {
    const looked = new Looked(database, folder)
    for (const file of files) {
      const inspection = await tried(file, unfit, () => looked.at(file))
      if (inspection?.source !== undefined) enter(groups, file, inspection.source, inspection)
      else if (inspection !== undefined) strange.push(file)
    }
    for (const file of strange) {
      const others = neighbors(file, [...groups.values()])
      const inspection = await tried(file, unfit, () => looked.among(file, others))
      if (inspection?.source !== undefined) enter(groups, file, inspection.source, inspection)
      else if (inspection !== undefined) {
        const [why = '', ...advice] = inspection.notes
        unfit.push({ file: file.name, why, advice })
      }
    }
  })
  return { groups: [...groups.values()], unfit }
}

/** What a file cannot be read for concerns no other file. */
async function tried<Result>(
  { name }: FoundLog,
  unfit: Unfit[],
  look: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await look()
  } catch (error) {
    if (isInterrupt(error)) throw error
    const why = reasonOf(error).replace(`${name} `, '')
    unfit.push({ file: name, why, ...(why === 'is empty' ? { isHarmless: true } : { isBroken: true }) })
    return undefined
  }
}

/** The inspections of files, each kind of file only once. */
class Looked {
  readonly #database: Database
  readonly #folder: string
  readonly #known = new Map<string, Inspection[]>()
  #links = 0

  constructor(database: Database, folder: string) {
    this.#database = database
    this.#folder = folder
  }

  async at(file: FoundLog): Promise<Inspection> {
    const key = `${file.format} ${await this.#columns(file)}`
    const known = this.#known.get(key) ?? []
    const alike = known.find(({ source }) => source !== undefined) ?? known[MOST_TRIED - 1]
    if (alike !== undefined) return alike
    const inspection = await this.among(file, [])
    this.#known.set(key, [...known, inspection])
    return inspection
  }

  async among(file: FoundLog, others: readonly SourceEntry[]): Promise<Inspection> {
    return inspectFile(this.#database, file, this.#link(file), others)
  }

  #link({ format }: FoundLog): string {
    this.#links += 1
    return join(this.#folder, `${this.#links}.${format}`)
  }

  /** The header, or all keys at the beginning of a file. A Parquet file is alike no other. */
  async #columns(file: FoundLog): Promise<string> {
    if (file.format === 'parquet') return file.name
    const head = (await readHead(file, HEAD_BYTES)).toString('utf8')
    if (file.format === 'csv') return head.split(/[\r\n]/, 1)[0] ?? ''
    return [...new Set(head.match(/"[^"\\]{1,80}"(?=\s{0,8}:)/g))].sort().join()
  }
}

function enter(
  groups: Map<string, LogGroup>,
  file: FoundLog,
  source: SourceEntry,
  { lacks_offset, unread, numbers }: Inspection,
): void {
  const { name: _name, files: _files, ...entry } = withFolders(source, file)
  const key = JSON.stringify(entry)
  const group = groups.get(key) ?? { entry, lacksOffset: false, unread: new Set(), numbers, files: [] }
  groups.set(key, group)
  group.files.push(file)
  group.lacksOffset ||= lacks_offset
  for (const path of unread) group.unread.add(path)
}

/** The source, with the model from a folder such as `model=a` if no column has it. */
function withFolders(source: SourceEntry, { name }: FoundLog): SourceEntry {
  const [, column] = /(?:^|\/)(model(?:_\w{1,20})?)=[^/]+\//i.exec(name) ?? []
  if (source.model !== MODEL_TO_SAY || column === undefined) return source
  const { model: _, columns = {}, ...rest } = source
  return { ...rest, hive: true, columns: { ...columns, model_permaslug: column } }
}

/** The sources of files in the same folder and of the same format, those of most files first. */
function neighbors(file: FoundLog, groups: readonly LogGroup[]): SourceEntry[] {
  const countOf = ({ files }: LogGroup) =>
    files.filter(({ name, format }) => dirname(name) === dirname(file.name) && format === file.format).length
  return groups
    .filter((group) => countOf(group) > 0)
    .sort((a, b) => countOf(b) - countOf(a))
    .map(({ entry }) => ({ ...entry, name: file.name, files: [file.name] }))
}
