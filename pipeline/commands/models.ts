import { Command, Option } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import { describeShare } from '../dataset/published-share.ts'
import type { UnknownModels } from '../rollup/unknown-models.ts'
import { say, table } from './output.ts'
import { withEffects } from './running.ts'

export const models = new Command('models')
  .description('List the models of your logs that the registry does not know, with their tokens, and add them to it.')
  .argument('[model...]', 'only these: names as listed, or patterns in which * stands for any text')
  .addOption(
    new Option('--add <visibility>', 'add them to the file that the sources file names as "models"').choices([
      'public',
      'private',
    ] as const),
  )
  .option('--all', 'with --add: add all of them')
  .option('--dry-run', 'say what would be added; keep nothing')
  .option('--json', 'print the models as one JSON object on stdout')
  .addHelpText(
    'after',
    `
This reads the sources as a build does and publishes nothing. Usage of a model that the registry does not know is
withheld. --add public leaves out names that look like a customer's own, such as fine-tuned models and deployments,
unless they are named one by one. Existing entries stay unchanged; a models file that does not exist is created. An entry also covers unlisted
variants of its model: acme/large covers acme/large:free.

  tokenboard models                                  what is unknown, most tokens first
  tokenboard models --add public 'acme/*' lab/one    adds some
  tokenboard models --add private --all              adds the rest

Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT, and those of ClickHouse (build --help).`,
  )
  .action(async (names, { add, all = false, dryRun = false, json = false }) => {
    checkClear(names, add, all)
    const config = readPipelineConfig()
    const found = await withEffects(async (effects) => {
      const { findUnknownModels } = await import('../rollup/unknown-models.ts')
      return findUnknownModels(config, effects, { names, add, dryRun })
    })
    if (json) process.stdout.write(`${JSON.stringify(found)}\n`)
    else print(found, add, dryRun)
  })

function checkClear(names: readonly string[], add: string | undefined, all: boolean): void {
  if (all && names.length > 0) throw new CliError('give --all or the names of models, not both')
  if (all && add === undefined) throw new CliError('--all goes with --add public or --add private')
  if (add !== undefined && !all && names.length === 0) {
    throw new CliError(`say which models to add: --add ${add} with their names, a pattern such as 'acme/*', or --all`)
  }
}

function print(found: UnknownModels, add: string | undefined, dryRun: boolean): void {
  const rows = add === undefined ? unknownRows(found) : addedRows(found)
  if (rows.length > 1) process.stdout.write(table(rows, add === undefined ? 1 : 2))
  const lines = add === undefined ? describeUnknown(found) : describeAdded(found, dryRun)
  say(lines.map((line) => `${line}\n`).join(''))
}

function unknownRows({ unknown }: UnknownModels): string[][] {
  const rows = unknown.map(({ model, records, tokens }) => [model, formatInteger(records), formatInteger(tokens)])
  return [['model', 'records', 'tokens'], ...rows]
}

function describeUnknown({ models_file, published_share, unknown }: UnknownModels): string[] {
  if (models_file === null && unknown.length === 0)
    return ['no source asks a registry: the sources file itself says which usage is public']
  if (unknown.length === 0) return [`${models_file} knows every model that you asked for`]
  return [
    `${models_file === null ? 'the sources file names no "models", which would have to list' : `${models_file} does not know`} ${counted(unknown.length, 'model')}; ${describeShare(published_share)}`,
    'add them with --add public or --add private, and their names or a pattern; --add private --all adds the rest',
  ]
}

function addedRows({ added, covered }: UnknownModels): string[][] {
  const rows = [
    ...added.map((entry) => [entry, entry.public ? 'public' : 'private'] as const),
    ...covered.map((variant) => [variant, `follows ${variant.follows}`] as const),
  ]
  const cells = rows.map(([{ model, records, tokens }, entry]) => [
    model,
    entry,
    formatInteger(records),
    formatInteger(tokens),
  ])
  return [['model', 'registry', 'records', 'tokens'], ...cells]
}

function describeAdded(found: UnknownModels, dryRun: boolean): string[] {
  const { models_file, unknown, added } = found
  const held = found.left_out.map(({ model, why }) => `left out: ${model} looks private: ${why}; name it to add it`)
  const rest = unknown.length === 0 ? 'no model is unknown now' : `${counted(unknown.length, 'model')} still unknown`
  if (added.length === 0) {
    return [
      ...held,
      held.length > 0 ? `nothing was added; ${rest}` : `nothing to add: ${models_file} knows them already; ${rest}`,
    ]
  }
  const models = `${counted(added.length, 'model')} to ${models_file}`
  return [
    ...held,
    dryRun ? `dry run: would add ${models}; nothing was written` : `added ${models}; ${rest}; build to publish`,
  ]
}
