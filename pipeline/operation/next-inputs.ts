import type { PipelineConfig } from '../base/config.ts'
import { reasonOf } from '../base/errors.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { findInputFiles, type InputFile } from '../raw/files/find.ts'
import type { Source, Sources } from '../raw/sources.ts'
import { isSynthetic, namedSources, sourcesPath } from '../rollup/intake.ts'
import type { KnownFiles } from '../rollup/known-files.ts'

/** The local files of a source, as the next build would find them. Null is what could not be compared. */
export interface SourceInputs {
  source: string
  files: number
  bytes: number
  new: number | null
  changed: number | null
  /** Files that were read and are not there now. */
  missing: number | null
}

/** What the next build would read. */
export interface NextInputs {
  sources_file: string
  /** Whether that is the synthetic sample, because no sources are named. */
  synthetic: boolean
  sources: SourceInputs[]
  /** The ClickHouse that would be asked; null if none is named. */
  clickhouse: { url: string; database: string; view: string; from: UtcDate } | null
}

/** Finds files without reading them. What is wrong with a source goes to `onProblem`. Throws `CliError` for wrong sources. */
export async function findNextInputs(
  config: Pick<PipelineConfig, 'sources' | 'dataDir'>,
  known: KnownFiles | undefined,
  onProblem: (problem: string) => void,
): Promise<NextInputs> {
  const named = await namedSources(config)
  const sources: SourceInputs[] = []
  for (const source of named?.sources ?? []) {
    try {
      sources.push(await inputsOf(source, named as Sources, known))
    } catch (error) {
      onProblem(reasonOf(error))
    }
  }
  const synthetic = await isSynthetic(named)
  return { sources_file: sourcesPath(config), synthetic, sources, clickhouse: clickhouseOf(named) }
}

function clickhouseOf(named: Sources | undefined): NextInputs['clickhouse'] {
  if (named?.engine.kind !== 'clickhouse') return null
  const { url, database, view, from } = named.engine
  return { url, database, view, from }
}

async function inputsOf(source: Source, { folder }: Sources, known: KnownFiles | undefined): Promise<SourceInputs> {
  const { files } = await findInputFiles(source, { folder })
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return { source: source.name, files: files.length, bytes, ...compare(files, known, source.name) }
}

function compare(
  files: readonly InputFile[],
  known: KnownFiles | undefined,
  source: string,
): Pick<SourceInputs, 'new' | 'changed' | 'missing'> {
  if (known === undefined) return { new: null, changed: null, missing: null }
  const read = new Map(known.get(source))
  let [fresh, changed] = [0, 0]
  for (const { name, bytes, modified } of files) {
    const before = read.get(name)
    if (before === undefined) fresh += 1
    else if (before.bytes !== bytes || before.modified !== modified) changed += 1
    read.delete(name)
  }
  return { new: fresh, changed, missing: read.size }
}
