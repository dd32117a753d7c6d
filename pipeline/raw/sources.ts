import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { CliError, reasonOf, withAllFaults } from '../base/errors.ts'
import { hashFile, isMissing, statsIfAny, toText } from '../base/files.ts'
import { jsonIfAny, parseJson, withoutMark } from '../base/json.ts'
import { DisclosureSettings } from '../contract/disclosure.ts'
import { nearest } from '../contract/nearest.ts'
import { KEEP_ALL, Retention } from '../contract/retention.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { SanityCheck } from './check-names.ts'
import {
  ClickHouseFields,
  type Engine,
  EngineChoice,
  EngineFields,
  FileEntry,
  faultsOfNote,
  NoCustomer,
  SourceVisibility,
  type UsageSource,
} from './engine.ts'
import { Model, type Registry } from './registry.ts'
import { type NamedText, readOwners, readRegistry } from './registry-files.ts'
import { HELICONE_SCHEMAS, OutsideFrom } from './schemas/helicone-settings.ts'
import { MAPPINGS, SCHEMA_NAMES, SCHEMAS } from './schemas/index.ts'
import { ColumnMapping, Unnest, Where } from './schemas/mapping.ts'
import { mappableColumns, problemsOf } from './schemas/of-source.ts'
import { type Schema, schemaColumns } from './schemas/schema.ts'

const TimeZone = z
  .string()
  .refine(isTimeZone, { error: 'must be a time zone of the IANA database, such as Europe/Paris' })

const SourceFields = z.strictObject({
  name: z.string().min(1).describe('The name of the source in warnings, state and archive. It is never published.'),
  schema: z
    .enum(SCHEMA_NAMES, { error: ({ input }) => unknownSchema(input) })
    .describe("`canonical` for your own logs, or the name of a product's export."),
  files: z
    .array(FileEntry)
    .min(1)
    .describe(
      'Paths and patterns, relative to the sources file. An entry that names an existing file is never read as a pattern. `{model}` names a part of the path as a column ([sources](sources.md#columns-in-the-path)).',
    ),
  visibility: SourceVisibility.describe(
    'Whether the usage is public. With `registry`, the `models` file decides. The `visibility` of a record wins.',
  ),
  columns: z
    .record(z.string(), ColumnMapping)
    .default({})
    .describe(
      'Where the columns of the schema are in your files: `{"timestamp": "created_at", "prompt_tokens": ["usage.input", "+usage.cache_read"]}` ([sources](sources.md#paths)).',
    ),
  unnest: Unnest.optional().describe(
    'Where the records are in a line or document of JSON: `data[].results[]` ([sources](sources.md#records-in-lists)).',
  ),
  hive: z
    .boolean()
    .optional()
    .describe(
      'Whether folders such as `model=a` are columns of the files in them ([sources](sources.md#columns-in-the-path)).',
    ),
  where: Where.optional().describe(
    'Conditions on fields; records that do not fit are excluded and counted: `{"status": {"equal": "ok"}}` ([sources](sources.md#conditions)).',
  ),
  contributors: z.enum(['keys', 'exempt']).optional().meta({
    unset: 'the column `contributor`, if the records have one',
    description:
      'Who is protected by disclosure control: `keys` if the records have API keys and name no customer (`canonical` and `litellm-spend-logs`), `exempt` for usage of no customer ([publishing](publishing.md#customers)).',
  }),
  note: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Why the usage belongs to no customer. Needed with `exempt`; with a rule in `disclosure` it is published.',
    ),
  no_customer: NoCustomer.describe(
    'Values of the column of the customer that stand for nobody, besides those that always do ([sources](sources.md#whose-usage-it-is)): `["guest"]`.',
  ),
  model: z.string().min(1).optional().describe('One model for every record, if the files have no column for it.'),
  timezone: TimeZone.default('UTC').describe('The IANA time zone of timestamps without an offset.'),
  base_time: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 instant with Z or an offset' })
    .optional()
    .describe('The instant from which numeric timestamps count. Unix time: `1970-01-01T00:00:00Z`.'),
  time_unit: z.enum(['seconds', 'milliseconds']).optional().meta({
    unset: 'whole numbers are milliseconds, numbers with a decimal point seconds',
    description: 'The unit of numeric timestamps; needs `base_time`.',
  }),
  outside_from: OutsideFrom.optional().describe(
    'For `helicone-requests` and `helicone-api` only: by provider, the first date on which cached input, reasoning and audio are outside the two counts ([sources](sources.md#helicone-requests)).',
  ),
  audio_inside_from: UtcDate.optional().describe(
    'For `helicone-requests` and `helicone-api` only: the first date on which audio is inside the two counts.',
  ),
  sampling_rate: z
    .number()
    .optional()
    .describe(
      'For `vertex-ai-logs` only, where it must be 1: the share of the requests that is logged ([sources](sources.md#vertex-ai-logs)).',
    ),
})

const Disclosure = z.union([z.literal('none'), DisclosureSettings], {
  error: 'must be "none" or a rule such as {"min_contributors": 5, "p_percent": 10, "publish_after_days": 3}',
})

/** What happens to the records of a raw file that is missing now. */
const OnMissing = z.enum(['fail', 'keep', 'remove'])
export type OnMissing = z.infer<typeof OnMissing>

const HELICONE_KEYS = ['outside_from', 'audio_inside_from'] as const

export const Source = SourceFields.superRefine((source, context) => {
  const { schema: name, columns, base_time, time_unit } = source
  const schema: Schema = SCHEMAS[name]
  const known = mappableColumns(name)
  const strange = Object.keys(columns).filter((key) => !known.includes(key))
  for (const column of strange) {
    const message = `${unknown('column', column, known)} The columns of schema ${name} are ${known.join(', ')}.`
    context.addIssue({ code: 'custom', path: ['columns'], message })
  }
  for (const { path, problem } of strange.length > 0 ? [] : problemsOf(source)) {
    context.addIssue({ code: 'custom', path, message: problem })
  }
  if (base_time !== undefined && schema.hasAbsoluteTime) {
    context.addIssue({ code: 'custom', path: ['base_time'], message: `has no effect with schema ${name}; remove it` })
  }
  if (base_time !== undefined && Object.values(columns).some((each) => typeof each === 'object' && 'unit' in each)) {
    const message = 'has no effect on a timestamp that has a unit of its own; remove it'
    context.addIssue({ code: 'custom', path: ['base_time'], message })
  }
  if (time_unit !== undefined && base_time === undefined) {
    const message = 'has no effect without base_time; for Unix time set "base_time": "1970-01-01T00:00:00Z"'
    context.addIssue({ code: 'custom', path: ['time_unit'], message })
  }
  for (const { path, message } of faultsOfContributors(source)) context.addIssue({ code: 'custom', path, message })
  const isSampled = MAPPINGS[name].may_be_sampled === true
  if (isSampled && source.sampling_rate !== 1) {
    const message = `must be 1 with schema ${name}: a sample of the requests would count too little. Say 1 if all were logged`
    context.addIssue({ code: 'custom', path: ['sampling_rate'], message })
  }
  if (!isSampled && source.sampling_rate !== undefined) {
    context.addIssue({
      code: 'custom',
      path: ['sampling_rate'],
      message: `has no effect with schema ${name}; remove it`,
    })
  }
  for (const key of HELICONE_KEYS.filter((each) => !HELICONE_SCHEMAS.includes(name) && source[each] !== undefined)) {
    const message = `only applies to schema ${HELICONE_SCHEMAS.join(' or ')}, not ${name}; remove it`
    context.addIssue({ code: 'custom', path: [key], message })
  }
})

function faultsOfContributors({
  schema,
  contributors,
  columns,
  note,
  no_customer,
}: z.infer<typeof SourceFields>): Fault[] {
  const faults: Fault[] = []
  if (contributors === 'keys' && !hasKeys(schema)) {
    const message = `cannot be "keys" with schema ${schema}: of all schemas, only ${SCHEMA_NAMES.filter(hasKeys).join(' and ')} have API keys`
    faults.push({ path: ['contributors'], message })
  }
  if (contributors !== undefined && no_customer !== undefined) {
    const message = `has no effect with "contributors": ${JSON.stringify(contributors)}; remove it`
    faults.push({ path: ['no_customer'], message })
  }
  if (contributors !== undefined && 'contributor' in columns) {
    const message = `cannot be ${JSON.stringify(contributors)} if "columns" names a column of contributors; remove one of them`
    faults.push({ path: ['contributors'], message })
  }
  return [...faults, ...faultsOfNote({ contributors, note })]
}

/** Whether the records of a schema have API keys. */
function hasKeys(schema: keyof typeof SCHEMAS): boolean {
  return SCHEMAS[schema].record.api_key_hash !== undefined
}

/** A source of the sources file, or the sums that an engine provides instead. With `none` no contributors are read. */
export type Source = Omit<z.infer<typeof Source>, 'schema' | 'contributors'> & {
  schema: keyof typeof SCHEMAS
  contributors?: 'keys' | 'exempt' | 'none' | undefined
}

const SourcesFields = z.strictObject({
  models: z.string().min(1).optional().describe('The registry of models, a JSON file. `registry` visibility needs it.'),
  aliases: z
    .string()
    .min(1)
    .optional()
    .describe('A CSV file with the columns `alias,model_permaslug`. These aliases are never published.'),
  owners: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A CSV file with the columns `contributor,owner`: accounts of one owner count as one customer ([publishing](publishing.md#customers)). It is never published.',
    ),
  max_rejected_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe('A build that rejects a larger share of its records fails.'),
  max_withheld_share: z.number().min(0).max(1).optional().meta({
    unset: '`0.2`',
    description:
      'The share of tokens, over the last 31 completed dates, that models unknown to the registry may have. Tokens known to be private do not count. A larger share stops a first release. Later it is a warning until you set this key; then it stops the build too.',
  }),
  blocking: z.array(SanityCheck).default([]).describe('Sanity checks that stop a release until they are accepted.'),
  disclosure: Disclosure.optional().describe(
    'Under which rule numbers are published, so that none tells about a single customer ([publishing](publishing.md#customers)): `{}` for the default rule, or `none`.',
  ),
  retention: Retention.optional().describe(
    'How many releases keep their data files ([publishing](publishing.md#retention)). All, unless it says otherwise.',
  ),
  on_missing: OnMissing.default('fail').describe(
    'What happens to the records of a raw file that is missing: `fail` stops the build and names it, `keep` keeps them, `remove` drops them.',
  ),
  sources: z.array(Source).min(1).optional().describe('What to read, unless `engine` is given.'),
  engine: EngineChoice.optional().describe('What sums the usage instead of DuckDB and raw files.'),
})

const OUTLINE = { when: ({ value }: { value: unknown }) => Outline.safeParse(value).success }

/** The sources file. `docs/reference.md` is made from the descriptions. */
export const SourcesFile = SourcesFields.superRefine((file, context) => {
  for (const { path, message } of faultsBetween(Outline.parse(file))) {
    context.addIssue({ code: 'custom', path, message })
  }
}, OUTLINE)

/** The parsed sources file. Its relative paths start at `folder`. */
export interface Sources {
  folder: string
  sources: Source[]
  engine: Engine
  usageSources: (UsageSource | Source)[]
  registry: Registry
  /** The owners of contributors, both as `contributorName` spells them. */
  owners: (readonly [contributor: string, owner: string])[]
  /** The path of the registry; undefined if none is named. */
  models_file: string | undefined
  /** SHA-256 of the registry's files; null if none is named. */
  registry_files: { models_sha256: string | null; aliases_sha256: string | null }
  max_rejected_share: number
  /** Undefined if not set: then the default only stops a first release. */
  max_withheld_share: number | undefined
  blocking: SanityCheck[]
  on_missing: OnMissing
  /** The rule under which numbers are published; undefined if the file says nothing. */
  disclosure: DisclosureSettings | 'none' | undefined
  retention: Retention
  /** The names of the only files to read, by source. Undefined: all that are found. */
  chosen?: ReadonlyMap<string, ReadonlySet<string>>
}

export interface ReadOptions {
  /** Accept a missing models file as an empty registry: it is about to be written. */
  mayLackModels?: boolean
}

/** What the members of a sources file say of each other, if some of them are wrong by themselves. */
const Outline = z.looseObject({
  models: z.string().optional().catch(undefined),
  aliases: z.string().optional().catch(undefined),
  owners: z.string().optional().catch(undefined),
  sources: z
    .array(
      z
        .looseObject({
          name: z.unknown(),
          visibility: z.unknown().optional(),
          schema: z.unknown().optional(),
          contributors: z.unknown().optional(),
          columns: z.looseObject({}).optional().catch(undefined),
        })
        .catch({ name: undefined, visibility: null, schema: undefined, contributors: undefined }),
    )
    .optional()
    .catch([]),
  engine: z
    .looseObject({
      visibility: z.unknown(),
      rollup_files: z.unknown().optional(),
      contributors: z.unknown().optional(),
    })
    .optional()
    .catch({ visibility: null, rollup_files: undefined, contributors: undefined }),
  disclosure: z.looseObject({}).optional().catch(undefined),
})
type Outline = z.infer<typeof Outline>

interface Fault {
  path: (string | number)[]
  message: string
}

function faultsBetween({ models, sources, engine, disclosure }: Outline): Fault[] {
  const names = (sources ?? []).map(({ name }) => name)
  const duplicates = names.flatMap((name, position) =>
    typeof name !== 'string' || names.indexOf(name) === position
      ? []
      : [{ path: ['sources', position, 'name'], message: `two sources have the name ${JSON.stringify(name)}` }],
  )
  return [
    ...faultsOfChoice({ sources, engine }),
    ...duplicates,
    ...faultsOfVisibility({ models, sources, engine }),
    ...(disclosure === undefined ? [] : faultsOfRule({ sources, engine })),
  ]
}

/** A rule needs to know whose usage each source has. */
function faultsOfRule({ sources = [], engine }: Pick<Outline, 'sources' | 'engine'>): Fault[] {
  const message =
    'does not say whose usage it is, which the rule of "disclosure" needs: name the column of the customer, "columns": ' +
    '{"contributor": "…"}, or set "contributors": "exempt" with a "note", or "keys" where there are API keys'
  const faults = sources.flatMap((source, position) =>
    lacksContributors(source) ? [{ path: ['sources', position], message }] : [],
  )
  if (engine?.rollup_files === undefined || engine.contributors !== undefined) return faults
  const sums =
    'cannot be a rule with "rollup_files", whose sums do not say whose usage they are; list raw files as "sources", set ' +
    '"contributors": "exempt" with a "note" in "engine", or set "none"'
  return [...faults, { path: ['disclosure'], message: sums }]
}

function lacksContributors({ schema, contributors, columns }: NonNullable<Outline['sources']>[number]): boolean {
  const known = SCHEMA_NAMES.find((name) => name === schema)
  if (known === undefined || contributors !== undefined) return false
  return MAPPINGS[known].contributor === undefined && !('contributor' in (columns ?? {}))
}

function faultsOfChoice({ sources, engine }: Pick<Outline, 'sources' | 'engine'>): Fault[] {
  if ((sources === undefined) !== (engine === undefined)) return []
  const message =
    sources === undefined
      ? 'is missing; list what to read, or name an "engine"'
      : 'cannot be combined with "engine", which provides all usage; remove one of them'
  return [{ path: ['sources'], message }]
}

function faultsOfVisibility({ models, sources = [], engine }: Pick<Outline, 'models' | 'sources' | 'engine'>): Fault[] {
  const places = sources.map((source, position) => ({ ...source, path: ['sources', position] }))
  const wanting = [...places, ...(engine === undefined ? [] : [{ ...engine, path: ['engine'] }])].find(
    ({ visibility = 'registry' }) => visibility === 'registry',
  )
  if (models !== undefined || wanting === undefined) return []
  const message =
    'leaves visibility to the model registry, but the file names no "models"; ' +
    'add "models": "models.json", or "visibility": "public" or "private" here'
  return [{ path: wanting.path, message }]
}

/** Reads the sources file and the files it names. Throws `CliError` with all faults of them, each with file and line. */
export async function readSources(path: string, { mayLackModels = false }: ReadOptions = {}): Promise<Sources> {
  const text = await readText(path)
  const named = Outline.safeParse(jsonIfAny(withoutMark(text))).data
  const modelsPath = besides(path, named?.models)
  const lacksModels = mayLackModels && modelsPath !== undefined && (await statsIfAny(modelsPath)) === undefined
  const [file, registry, owners] = await withAllFaults([
    () => parseJson(SourcesFile, text, path, CliError, KNOWN_KEYS),
    async () => {
      const [models, aliases] = await withAllFaults([
        () => (lacksModels ? undefined : readIfNamed(modelsPath, REMEDY)),
        () => readIfNamed(besides(path, named?.aliases)),
      ])
      return readRegistry(models, aliases, KNOWN_KEYS)
    },
    async () => {
      const listed = await readIfNamed(besides(path, named?.owners))
      return listed === undefined ? [] : readOwners(listed)
    },
  ])
  const folder = dirname(resolve(path))
  return {
    folder,
    ...whatIsRead(file, folder),
    registry,
    owners,
    models_file: file.models && resolve(folder, file.models),
    registry_files: {
      models_sha256: lacksModels ? null : await hashIfNamed(folder, file.models),
      aliases_sha256: await hashIfNamed(folder, file.aliases),
    },
    max_rejected_share: file.max_rejected_share,
    max_withheld_share: file.max_withheld_share,
    blocking: file.blocking,
    on_missing: file.on_missing,
    disclosure: file.disclosure,
    retention: file.retention ?? KEEP_ALL,
  }
}

const REMEDY = '; `tokenboard models` (make models) lists the models of your logs and writes them there with --add'

/** The path of a file that the sources file names, as the maintainer wrote both. */
function besides(sourcesFile: string, file: string | undefined): string | undefined {
  if (file === undefined || file === '') return undefined
  return isAbsolute(file) ? file : join(dirname(sourcesFile), file)
}

function whatIsRead(
  { sources = [], engine, disclosure }: z.infer<typeof SourcesFile>,
  folder: string,
): Pick<Sources, 'sources' | 'engine' | 'usageSources'> {
  if (engine === undefined) {
    const read = disclosure === 'none' ? sources.map((each) => ({ ...each, contributors: 'none' as const })) : sources
    return { sources: read, engine: { kind: 'duckdb' }, usageSources: read }
  }
  const { clickhouse, rollup_files, visibility, note, no_customer } = engine
  const contributors = disclosure === 'none' ? ('none' as const) : engine.contributors
  if (clickhouse !== undefined) {
    const source: UsageSource = { name: engine.name ?? 'clickhouse', visibility, contributors, note, no_customer }
    const { ca, cert, key, ...rest } = clickhouse
    const files = Object.entries({ ca, cert, key }).flatMap(([name, file]) =>
      file === undefined ? [] : [[name, resolve(folder, file)]],
    )
    return {
      sources: [],
      engine: { kind: 'clickhouse', source, ...rest, ...Object.fromEntries(files) },
      usageSources: [source],
    }
  }
  const name = engine.name ?? 'rollup_files'
  const fields = { name, schema: 'canonical', files: rollup_files, visibility, note }
  const source: Source = { ...SourceFields.parse(fields), schema: 'rollup-files', contributors }
  return { sources: [source], engine: { kind: 'duckdb' }, usageSources: [source] }
}

async function hashIfNamed(folder: string, path: string | undefined): Promise<string | null> {
  return path === undefined ? null : (await hashFile(resolve(folder, path))).sha256
}

async function readIfNamed(path: string | undefined, remedy = ''): Promise<NamedText | undefined> {
  return path === undefined ? undefined : { path, text: await readText(path, remedy) }
}

async function readText(path: string, remedy = ''): Promise<string> {
  try {
    return toText(await readFile(path), path, CliError)
  } catch (error) {
    if (error instanceof CliError) throw error
    if (isMissing(error)) throw new CliError(`there is no file ${path}${remedy}`)
    if (error instanceof Error && 'code' in error && error.code === 'EISDIR')
      throw new CliError(`${path} is a folder, not a file`)
    throw new CliError(`${path} cannot be read: ${reasonOf(error)}`)
  }
}

const KNOWN_KEYS: readonly string[] = [
  ...Object.keys(SourcesFields.shape),
  ...Object.keys(SourceFields.shape),
  ...Object.keys(EngineFields.shape),
  ...Object.keys(ClickHouseFields.shape),
  ...Object.keys(Model.shape),
  ...Object.keys(DisclosureSettings.shape),
  ...Object.keys(Retention.shape),
  ...schemaColumns(SCHEMAS.canonical),
]

function unknownSchema(given: unknown): string {
  if (typeof given !== 'string') return `must be one of ${SCHEMA_NAMES.join(', ')}`
  const problem = unknown('schema', given, SCHEMA_NAMES)
  return problem.endsWith('?') ? problem : `${problem} The schemas are ${SCHEMA_NAMES.join(', ')}.`
}

function unknown(what: string, given: string, known: readonly string[]): string {
  const meant = nearest(given, known)
  return `unknown ${what} ${JSON.stringify(given)}${meant === undefined ? '.' : `, did you mean ${JSON.stringify(meant)}?`}`
}

function isTimeZone(name: string): boolean {
  // Node also accepts offsets such as +05:30, which DuckDB does not know.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export function isOfSums({ schema }: Source): boolean {
  return schema === 'rollup-files'
}
