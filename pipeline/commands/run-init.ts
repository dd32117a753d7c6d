import { dirname, join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import { printable } from '../base/prose.ts'
import type { BuildSummary } from '../build-summary.ts'
import { DATASET_START, mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import { describeShare } from '../dataset/published-share.ts'
import { looksPrivate } from '../raw/model-names.ts'
import { ownPublisher } from '../release/publisher.ts'
import { sourcesPath } from '../rollup/intake.ts'
import {
  type ConfigurationFile,
  checkFree,
  configurationFiles,
  type Decisions,
  writeConfiguration,
} from '../setup/configuration.ts'
import { type DiagnosedSource, type Diagnosis, diagnose, type Unknown } from '../setup/doctor.ts'
import { adviceOn, describeDiagnosis } from './diagnosis.ts'
import { askCustomers, type GivenCustomers } from './init-customers.ts'
import {
  askBroken,
  askPublic,
  askPublisher,
  askRejected,
  askSampled,
  askSettings,
  askYesOrNo,
  checkNames,
  checkSettings,
  type Given,
  givenFor,
  listModels,
  MODELS_SHOWN,
} from './init-questions.ts'
import { askSameRequests, publishedSchemas } from './init-same-requests.ts'
import { Interview } from './interview.ts'
import { table } from './output.ts'

export interface InitOptions extends Given, GivenCustomers {
  force: boolean
  yes: boolean
  json: boolean
}

/** Options of which none is given. */
export const NO_OPTIONS: InitOptions = {
  force: false,
  yes: false,
  json: false,
  acceptRejected: false,
  allLogged: false,
  anyway: false,
  model: [],
  baseTime: [],
  timeUnit: [],
  timezone: [],
  public: [],
  private: [],
  contributor: [],
  exempt: [],
  keys: false,
}

export interface InitContext {
  config: PipelineConfig
  effects: Effects
  input: NodeJS.ReadableStream
  write(text: string): void
}

export interface InitResult extends Diagnosis {
  files: string[]
  /** Undefined if there is nothing to publish yet. */
  dry_run: BuildSummary | undefined
}

/** Goes from raw logs to a configuration. Throws `CliError` if something is not answered, and writes nothing then. */
export async function runInit(
  paths: readonly string[],
  options: InitOptions,
  { config, effects, input, write }: InitContext,
): Promise<InitResult> {
  if (!options.force) await checkFree(config)
  const own = await ownPublisher(config.dataDir)
  if (own !== undefined && namesPublisher(options) && !options.force) {
    throw new CliError(`nothing was changed: ${own.name} is the publisher already; --force writes another`)
  }
  const interview = new Interview(input, write, { takesDefaults: options.yes, signal: effects.signal })
  try {
    const diagnosis = await examine(await askPaths(paths, interview), options, { config, effects })
    const lastDate = mostRecentCompletedDay(config.asOf ?? effects.now())
    write(`\n${describeDiagnosis(diagnosis, lastDate)}`)
    const isPublishable = await checkPublishable(diagnosis, lastDate, options, interview)
    const keepsPublisher = own !== undefined && !namesPublisher(options)
    const before = { keepsPublisher, published: await publishedSchemas(config) }
    const decisions = await decide(diagnosis, before, options, { interview, write })
    const written = configurationFiles(config, decisions)
    await confirm(written, decisions, { interview, write })
    await writeConfiguration(written, effects)
    const files = written.map(({ path }) => path)
    write(`\nwrote ${files.join(', ')}\n`)
    const isTried = isPublishable && decisions.public.size > 0
    const dry_run = isTried ? await dryRun(decisions, { config, effects, write }) : undefined
    write(dry_run === undefined ? nextWithout(decisions, config) : describeDryRun(dry_run))
    return { ...diagnosis, files, dry_run }
  } finally {
    interview.close()
  }
}

interface Conversation extends Pick<InitContext, 'write'> {
  interview: Interview
}

async function askPaths(paths: readonly string[], interview: Interview): Promise<string[]> {
  if (paths.length > 0) return [...paths]
  const answer = await interview.ask({
    text: 'Where are your raw logs: files or folders',
    flag: 'PATH…',
    example: '',
  })
  interview.checkAnswered()
  return (await isThere(answer)) ? [answer] : answer.split(/\s+/)
}

async function examine(
  paths: readonly string[],
  { model, baseTime, timeUnit, timezone, contributor, exempt }: InitOptions,
  { config, effects }: { config: PipelineConfig; effects: Effects },
): Promise<Diagnosis> {
  const words: Record<Unknown, readonly string[]> = { model, base_time: baseTime, time_unit: timeUnit, timezone }
  checkSettings(words)
  const known = (name: string) => {
    const told = Object.entries(words).map(([key, all]) => [key, givenFor(name, all)] as const)
    return Object.fromEntries(told.filter(([, value]) => value !== undefined))
  }
  const folder = dirname(resolve(sourcesPath(config)))
  const column = (name: string) => givenFor(name, contributor)
  const diagnosis = await diagnose(paths, { config, effects, folder, known, contributor: column })
  checkNames(
    [...Object.values(words).flat(), ...contributor, ...exempt],
    diagnosis.sources.map(({ entry }) => entry.name),
  )
  if (diagnosis.sources.length > 0) return diagnosis
  if (diagnosis.unfit.length + diagnosis.skipped.length === 0)
    throw new BuildError(`${paths.join(', ')}: no files there`)
  const reasons = diagnosis.unfit.slice(0, 5).map(({ file, why }) => printable(`${file}: ${why}`))
  const why = [...reasons, ...adviceOn(diagnosis.unfit)].map((line) => `\n  ${line}`)
  throw new BuildError(`no raw file of ${paths.join(', ')} can be read; docs/sources.md says what can${why.join('')}`)
}

/** Whether some usage may be published now. If none, the maintainer has to want the files anyway. */
async function checkPublishable(
  { sources }: Diagnosis,
  lastDate: UtcDate,
  { anyway }: InitOptions,
  interview: Interview,
): Promise<boolean> {
  const dates = sources.flatMap(({ unknown, reading }) =>
    unknown.includes('base_time') || unknown.includes('time_unit') ? [lastDate] : reading.days.map(({ date }) => date),
  )
  if (dates.some((date) => date >= DATASET_START && date <= lastDate)) return true
  const last = dates.toSorted().at(-1)
  const why =
    last === undefined
      ? 'no record counts'
      : last < DATASET_START
        ? `all usage is before ${DATASET_START}, when the dataset begins, so nothing of it may be published. Name logs from ${DATASET_START} on`
        : `no day of the logs is complete as of now: after ${last} UTC is over, make build publishes it`
  const text = `${why}. Write the files anyway`
  if (anyway || (await askYesOrNo(interview, { text, flag: '--anyway', fallback: 'no' }))) return false
  throw new BuildError(`nothing was written: ${why}`)
}

function namesPublisher({ publisherName, publisherUrl, contact }: Given): boolean {
  return [publisherName, publisherUrl, contact].some((value) => value !== undefined)
}

async function decide(
  { sources, unfit }: Diagnosis,
  { keepsPublisher, published }: { keepsPublisher: boolean; published: readonly string[] },
  options: InitOptions,
  { interview, write }: Conversation,
): Promise<Decisions> {
  const chosen = await askSameRequests(sources, published, { interview, write })
  const settled: DiagnosedSource[] = []
  for (const source of chosen) settled.push({ ...source, entry: await askSettings(source, interview) })
  await askSampled(settled, options, interview)
  await askBroken(unfit, options, interview)
  const maxRejectedShare = await askRejected(settled, options, interview)
  if (maxRejectedShare !== undefined) write(`\n"max_rejected_share" becomes ${maxRejectedShare}\n`)
  const models = listModels(settled)
  const isPublic = await askPublic(models, options, interview, write)
  const customers = await askCustomers(settled, options, interview, write)
  const publisher = keepsPublisher ? undefined : await askPublisher(options, interview)
  interview.checkAnswered()
  return {
    ...customers,
    models: models.map(({ model }) => model),
    public: isPublic,
    publisher,
    maxRejectedShare,
  }
}

async function confirm(
  written: readonly ConfigurationFile[],
  { models, public: open }: Decisions,
  { interview, write }: Conversation,
): Promise<void> {
  const shown = written.map(({ path, content }) =>
    path.endsWith('models.json')
      ? `${path}: ${counted(models.length, 'model')}, ${open.size} public, ${models.length - open.size} private\n${describePrivate(models, open)}`
      : `${path}:\n${content}`,
  )
  write(`\n${shown.join('\n')}`)
  const isWanted = await askYesOrNo(interview, { text: 'Write these files', flag: '--yes', fallback: 'yes' })
  interview.checkAnswered()
  if (!isWanted) throw new CliError('nothing was written')
}

/** The models that are held back, those first that look private. */
function describePrivate(models: readonly string[], open: ReadonlySet<string>): string {
  const closed = models.filter((model) => !open.has(model)).map((model) => ({ model, why: looksPrivate(model) }))
  const rest = closed.filter(({ why }) => why === undefined)
  const lines = [
    ...closed.flatMap(({ model, why }) => (why === undefined ? [] : [`${printable(model)}: looks private: ${why}`])),
    ...rest.slice(0, MODELS_SHOWN).map(({ model }) => printable(model)),
    ...(rest.length > MODELS_SHOWN ? [`and ${formatInteger(rest.length - MODELS_SHOWN)} more`] : []),
  ]
  return lines.map((line) => `  private: ${line}\n`).join('')
}

/** The first release. A rule may leave nothing of it. */
async function dryRun(
  { disclosure }: Decisions,
  { config, effects, write }: Pick<InitContext, 'config' | 'effects' | 'write'>,
): Promise<BuildSummary | undefined> {
  const { build } = await import('../build.ts')
  try {
    return await build(config, effects, { dryRun: true })
  } catch (error) {
    if (disclosure === 'none' || !(error instanceof BuildError)) throw error
    write(`\ndry run: ${error.message}\n`)
    return undefined
  }
}

const ROWS_SHOWN = 10

function describeDryRun({
  newest_rows = [],
  end_date,
  start_date,
  days,
  published_share,
  disclosure_rule,
  warnings,
}: BuildSummary): string {
  const share = describeShare(published_share, disclosure_rule !== undefined)
  const rows = newest_rows
    .slice(0, ROWS_SHOWN)
    .map(({ model_permaslug, total_tokens }, index) => [`${index + 1}`, model_permaslug, formatInteger(total_tokens)])
  return [
    `\ndry run: ${counted(days, 'day')} from ${start_date} to ${end_date}; ${share}`,
    ...(warnings.length === 0 ? [] : [`${counted(warnings.length, 'warning')}; make build shows the first`]),
    `\n${end_date}`,
    table([['rank', 'model', 'tokens'], ...rows], 2),
    'nothing is published yet. Next: make build, then make serve\n',
  ].join('\n')
}

function nextWithout({ public: open }: Decisions, config: PipelineConfig): string {
  if (open.size > 0) return 'Next: make build, once there is usage that may be published\n'
  return `no model is public, so a build publishes nothing: set "public" to true in ${join(dirname(sourcesPath(config)), 'models.json')}, then make build\n`
}
