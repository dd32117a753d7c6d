import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CsvError, parse as parseCsv } from 'csv-parse/sync'
import { z } from 'zod'
import { SanityCheck } from './checks.ts'
import { UsageError } from './errors.ts'
import { isMissing } from './files.ts'
import { parse, parseJson } from './json.ts'
import { type Alias, createRegistry, Model, type Registry } from './registry.ts'

/** The columns of a `UsageRecord`, by the names they have in the `canonical` schema (DESIGN.md §5). */
export const CANONICAL_COLUMNS = [
  'timestamp',
  'model_permaslug',
  'prompt_tokens',
  'completion_tokens',
  'request_id',
  'visibility',
  'status',
  'api_key_hash',
  'cost_usd',
  'is_byok',
] as const
export type CanonicalColumn = (typeof CANONICAL_COLUMNS)[number]

/** Columns that every file must have; `model_permaslug` only where the source names no `model`. */
export const REQUIRED_COLUMNS: readonly CanonicalColumn[] = [
  'timestamp',
  'model_permaslug',
  'prompt_tokens',
  'completion_tokens',
]

const TimeZone = z
  .string()
  .refine(isTimeZone, { error: 'is not a time zone of the IANA database, such as Europe/Paris' })

const Source = z.strictObject({
  name: z.string().min(1),
  schema: z.enum(['canonical']),
  files: z.array(z.string().min(1)).min(1),
  visibility: z.enum(['public', 'private', 'registry']).default('registry'),
  columns: z.partialRecord(z.enum(CANONICAL_COLUMNS), z.string().min(1)).default({}),
  model: z.string().min(1).optional(),
  timezone: TimeZone.default('UTC'),
  base_time: z.iso.datetime({ offset: true, error: 'must be an ISO 8601 instant with Z or an offset' }).optional(),
  time_unit: z.enum(['seconds', 'milliseconds']).optional(),
})

const SourcesFile = z.strictObject({
  models: z.string().min(1).optional(),
  aliases: z.string().min(1).optional(),
  max_rejected_share: z.number().min(0).max(1).default(0.01),
  blocking: z.array(SanityCheck).default([]),
  on_missing: z.enum(['fail'], { error: 'can only be "fail" in this version' }).default('fail'),
  sources: z.array(Source).min(1),
})

/** A set of raw files in one schema, and how their columns are to be read. */
export type Source = z.infer<typeof Source>

/** What a build reads: the sources, the registry of models, and the folder that relative paths start from. */
export interface Sources {
  folder: string
  sources: Source[]
  registry: Registry
  max_rejected_share: number
  /** Sanity checks whose findings stop a release. */
  blocking: SanityCheck[]
}

/**
 * Reads the sources file and what it names. Throws `UsageError`, naming file and field, for a file that is missing,
 * that is no JSON, or that says something the form does not allow.
 */
export async function readSources(path: string): Promise<Sources> {
  const file = parseJson(SourcesFile, await readText(path), path, UsageError, KNOWN_KEYS)
  const folder = dirname(resolve(path))
  assertUniqueNames(file.sources, path)
  assertRegistry(file, path)
  const models = file.models === undefined ? [] : await readModels(resolve(folder, file.models))
  const aliases = file.aliases === undefined ? [] : await readAliases(resolve(folder, file.aliases))
  return {
    folder,
    sources: file.sources,
    registry: createRegistry(models, aliases),
    max_rejected_share: file.max_rejected_share,
    blocking: file.blocking,
  }
}

function assertUniqueNames(sources: readonly Source[], path: string): void {
  const names = sources.map((source) => source.name)
  const twice = names.find((name, position) => names.indexOf(name) !== position)
  if (twice !== undefined) throw new UsageError(`${path}: two sources have the name ${JSON.stringify(twice)}`)
}

function assertRegistry(file: z.infer<typeof SourcesFile>, path: string): void {
  const wanting = file.sources.find((source) => source.visibility === 'registry')
  if (wanting === undefined || file.models !== undefined) return
  throw new UsageError(
    `${path}: source ${JSON.stringify(wanting.name)} leaves visibility to the model registry, but the file names no "models"; ` +
      `add "models": "models.json", or give the source "visibility": "public" or "private"`,
  )
}

async function readModels(path: string): Promise<Model[]> {
  return parseJson(z.array(Model), await readText(path), path, UsageError, KNOWN_KEYS)
}

const AliasLine = z.strictObject({ alias: z.string().min(1), model_permaslug: z.string() })

async function readAliases(path: string): Promise<Alias[]> {
  const text = await readText(path)
  try {
    const lines = parseCsv(text, { bom: true, columns: true, skip_empty_lines: true })
    return parse(z.array(AliasLine), lines, path, UsageError)
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError(`${path}: ${error.message}`)
    throw error
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) throw new UsageError(`there is no file ${path}`)
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What a misspelt key may have been meant to be. */
const KNOWN_KEYS: readonly string[] = [
  ...Object.keys(SourcesFile.shape),
  ...Object.keys(Source.shape),
  ...Object.keys(Model.shape),
  ...CANONICAL_COLUMNS,
]

function isTimeZone(name: string): boolean {
  // Node also takes offsets such as +05:30, which DuckDB does not know.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
