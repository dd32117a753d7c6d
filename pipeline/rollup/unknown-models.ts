import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { CliError } from '../base/errors.ts'
import { mostRecentCompletedDay } from '../contract/utc-date.ts'
import { chooseModels, entriesOf } from '../dataset/choose-models.ts'
import { measureShare, type PublishedShare } from '../dataset/published-share.ts'
import { Account, type WithheldModel } from '../dataset/quality.ts'
import { RegistryFile } from '../dataset/registry-file.ts'
import { looksPrivate } from '../raw/model-names.ts'
import type { Sources } from '../raw/sources.ts'
import { defaultSources, leaveSample, namedSources, openEngine, readRecords } from './intake.ts'
import { withScratch, withWorkspace } from './workspace.ts'

export interface UnknownModelsOptions {
  names: readonly string[]
  add?: 'public' | 'private' | undefined
  dryRun?: boolean
}

/** Models that the registry does not know, and those added or to be added. */
export interface UnknownModels {
  models_file: string | null
  published_share: PublishedShare
  added: (WithheldModel & { public: boolean })[]
  /** Variants that follow an added model and need no entry. */
  covered: (WithheldModel & { follows: string })[]
  /** Models that were not added as public because they look private. Their exact names add them. */
  left_out: { model: string; why: string }[]
  /** Models that stay unknown, most tokens first; without `add`, only those asked for. */
  unknown: WithheldModel[]
}

/**
 * Finds models that the registry does not know and adds those asked for. Reads like a build but publishes nothing.
 * Throws `CliError` for an unknown name and for one that the registry has with another visibility.
 */
export async function findUnknownModels(
  config: PipelineConfig,
  effects: Effects,
  { names, add, dryRun = false }: UnknownModelsOptions,
): Promise<UnknownModels> {
  const sources = await sourcesOf(config)
  const asOf = config.asOf ?? effects.now()
  const withFolders = dryRun ? withScratch : withWorkspace
  return withFolders(config, effects, async (workspace) => {
    const { engine, archive } = await openEngine(workspace, { config, sources, asOf, synthetic: false }, effects)
    await leaveSample(workspace, archive)
    const account = new Account()
    await readRecords(engine, sources, { account }, effects)
    const { published: published_share } = await measureShare(workspace.database, account, mostRecentCompletedDay(asOf))
    const common = { models_file: sources.models_file ?? null, published_share }
    const file = sources.models_file === undefined ? undefined : await RegistryFile.read(sources.models_file)
    const wanted = chooseModels(account.withheld, names, { registry: sources.registry, file, add })
    if (add === undefined) return { ...common, added: [], covered: [], left_out: [], unknown: wanted }
    if (file === undefined) throw new CliError(noModelsFile(config))
    const left_out = add === 'public' ? wanted.flatMap(({ model }) => privateOf(model, names)) : []
    const open = wanted.filter(({ model }) => !left_out.some((each) => each.model === model))
    const { added, covered } = entriesOf(open, account.withheld, add === 'public')
    if (!dryRun && added.length > 0) await file.append(added, effects.files)
    const known = new Set([...added, ...covered].map(({ model }) => model))
    return { ...common, added, covered, left_out, unknown: account.withheld.filter(({ model }) => !known.has(model)) }
  })
}

/** A name that may tell a customer, unless it was given itself: a pattern may not make it public. */
function privateOf(model: string, names: readonly string[]): UnknownModels['left_out'] {
  const why = looksPrivate(model)
  return why === undefined || names.includes(model) ? [] : [{ model, why }]
}

async function sourcesOf(config: PipelineConfig): Promise<Sources> {
  const sources = await namedSources(config, { mayLackModels: true })
  if (sources !== undefined) return sources
  throw new CliError(
    `there is no ${defaultSources(config)}, and the synthetic sample brings its own models: write that file, or name yours ` +
      'as SOURCES',
  )
}

function noModelsFile(config: PipelineConfig): string {
  return `${config.sources ?? defaultSources(config)} names no "models" file; add "models": "models.json" to it`
}
