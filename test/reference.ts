/** `make docs`: writes docs/reference.md and the limits in docs/operations.md from the code. Tests fail when they are not current. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { z } from 'zod'
import { PipelineSettings } from '../pipeline/base/config.ts'
import { createProgram, EXIT_CODES } from '../pipeline/commands/program.ts'
import { Dois } from '../pipeline/contract/dois.ts'
import { DATASET_PATH, Publisher } from '../pipeline/contract/manifest.ts'
import { Model } from '../pipeline/raw/registry.ts'
import { SourcesFile } from '../pipeline/raw/sources.ts'
import { ServerSettings } from '../server/base/config.ts'
import { cachePolicy } from '../server/published/static-answers.ts'
import { renderLimits } from './limits.ts'

const INTRODUCTION = `# Reference

All settings, commands, keys of configuration files, exit codes and cache rules, made from the code by \`make docs\`. What follows a name in
parentheses is its default.`

export function renderReference(): string {
  const build = jsonSchema(PipelineSettings)
  const server = jsonSchema(ServerSettings)
  const shared = Object.keys(server.properties ?? {}).filter((name) => build.properties?.[name] !== undefined)
  for (const name of shared) delete server.properties?.[name]
  const { sources, engine } = jsonSchema(SourcesFile).properties ?? {}
  const { clickhouse } = engine?.properties ?? {}
  const { commands } = createProgram()
  return [
    INTRODUCTION,
    '## Settings',
    `Settings are environment or make variables: \`make serve PORT=9000\`. An empty one counts as unset. ${code(shared)} hold for the build and the server.`,
    '### Settings of the build',
    keyList(build),
    '### Settings of the server',
    keyList(server),
    '## Files that you write',
    '[Publishing](publishing.md) shows them in use. An unknown key is an error.',
    '### The sources file',
    'A JSON object. Relative paths in it are relative to the file.',
    keyList(jsonSchema(SourcesFile)),
    '### A source',
    'An item of `sources`. [Sources](sources.md) describes each schema.',
    keyList(sources?.items),
    '### `engine`',
    'For [usage that is in ClickHouse or summed elsewhere](operations.md#usage-that-is-elsewhere).',
    keyList(engine),
    '### `engine.clickhouse`',
    keyList(clickhouse),
    '### The registry of models',
    'The file that `models` names: a JSON array of objects.',
    keyList(jsonSchema(Model)),
    '### The publisher',
    '`DATA_DIR/publisher.json`: a JSON object. The file that comes with the project is a placeholder for the sample.',
    keyList(jsonSchema(Publisher)),
    '### DOIs',
    '`DATA_DIR/dois.json`, if releases are [deposited](publishing.md#dois).',
    keyList(jsonSchema(Dois)),
    '## Commands',
    'Each command is a make target of the same name, and `ARGS` goes to it: `make build ARGS="--dry-run --json"`. All take `--help`, which also has notes and the settings of each. Progress and text for people go to stderr, results to stdout.',
    describeCommon(commands).join(' '),
    ...commands.flatMap((command) => describeCommand(command, '###')),
    '## Exit codes',
    Object.entries(EXIT_CODES)
      .map(([number, meaning]) => `- ${number}: ${meaning}`)
      .join('\n'),
    'Wrong files and settings are reported together, before anything is read or built: each fault on a line, those of files as `FILE:LINE: …`. make itself turns any failure into 2, and adds a line `make: *** …`.',
    '## Cache rules of published paths',
    'What `make serve` sends as `Cache-Control`. The first real release replaces the sample, so it is never immutable.',
    describeCaching(),
    '',
  ].join('\n\n')
}

interface JsonSchema {
  type?: string
  description?: string
  default?: unknown
  /** What holds without the key, where that is no default of the schema. */
  unset?: string
  enum?: string[]
  required?: string[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
}

function keyList(schema: JsonSchema | undefined): string {
  const lines = Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    if (property.description === undefined) throw new Error(`${name} has no description in the code`)
    const missing = (property.enum ?? property.items?.enum ?? []).filter(
      (choice) => !property.description?.includes(`\`${choice}\``) && choice !== property.default,
    )
    const choices = missing.length === 0 ? '' : ` Choices: ${code(property.enum ?? property.items?.enum ?? [])}.`
    const start = `\`${name}\`${defaultOf(property, schema?.required?.includes(name) ?? false)}`
    return `- ${start}: ${property.description}${choices}`
  })
  return lines.join('\n')
}

function defaultOf({ default: value, unset }: JsonSchema, isRequired: boolean): string {
  if (isRequired) return ' (required)'
  if (value === undefined) return unset === undefined ? '' : ` (${unset})`
  return ` (\`${typeof value === 'string' ? value : JSON.stringify(value)}\`)`
}

/** Flags that mean the same in each command that has them. */
const COMMON: Record<string, string> = {
  '--json': 'prints the outcome as one JSON object or array on stdout',
  '--wait': 'says how long to wait for another command that is running, such as `10m`',
}

function isCommon({ long, description }: CommandUnknownOpts['options'][number]): boolean {
  return long === '--wait' || (long === '--json' && /\bJSON (object|array)\b/.test(description))
}

function leaves(command: CommandUnknownOpts, parents: string[] = []): [name: string, command: CommandUnknownOpts][] {
  const name = [...parents, command.name()]
  if (command.commands.length === 0) return [[name.join(' '), command]]
  return command.commands.flatMap((child) => leaves(child, name))
}

/** Which commands take a common flag. */
function describeCommon(commands: readonly CommandUnknownOpts[]): string[] {
  return Object.entries(COMMON).map(([flag, meaning]) => {
    const all = commands.flatMap((command) => leaves(command))
    const has = ([, { options }]: (typeof all)[number]) => options.some(({ long }) => long === flag)
    const [having, lacking] = [all.filter(has), all.filter((each) => !has(each))].map((some) =>
      some.map(([name]) => name),
    )
    const who = lacking?.length === 1 ? `all commands but ${code(lacking)}` : code(having ?? [])
    return `\`${flag}\` (${who}) ${meaning}.`
  })
}

function describeCommand(command: CommandUnknownOpts, heading: string, parents: string[] = []): string[] {
  const name = [...parents, command.name()].join(' ')
  const children = command.commands.flatMap((child) => describeCommand(child, `${heading}#`, [name]))
  const words = command.registeredArguments.map((argument) => {
    const word = argument.variadic ? `${argument.name()}...` : argument.name()
    return `- \`${argument.required ? `<${word}>` : `[${word}]`}\`: ${argument.description}`
  })
  const options = command.options
    .filter((option) => !isCommon(option))
    .map((option) => `- \`${option.flags}\`: ${describeOption(option)}`)
  const lines = [...words, ...options]
  return [
    `${heading} \`${name}\``,
    command.description(),
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...children,
  ]
}

function describeOption(option: CommandUnknownOpts['options'][number]): string {
  const text = option.defaultValueDescription ?? option.defaultValue
  return [
    option.mandatory ? 'required: ' : '',
    option.description,
    option.argChoices === undefined ? '' : `: ${code(option.argChoices)}`,
    text === undefined || text === true ? '' : ` (default: ${String(text)})`,
  ].join('')
}

const PUBLISHED = [
  ['files of a release', 'releases/20261120T001200Z/rankings-daily.csv'],
  ['the tombstone of a withdrawn release', 'releases/20261120T001200Z/TOMBSTONE.json'],
  ['the page of a release', 'releases/20261120T001200Z/index.html'],
  ['the newest release', 'latest/rankings-daily.csv'],
  ['the pointer and the indexes', 'latest.json'],
  ['the newest revision of a day or month', 'daily/2026-11-19.json'],
  ['a revision of a day', 'daily/2026-11-19/r1.json'],
  ['a revision of a month', 'monthly/2026-11/r1.csv'],
  ['pages, feeds, the catalog', '/index.html'],
  ['assets named by their hash', '/assets/site.0f3a5c7e.css'],
] as const

/** The published paths by how long they may be kept. */
function describeCaching(): string {
  const policies = Map.groupBy(PUBLISHED, ([, path]) => {
    const url = path.startsWith('/') ? path : `/${DATASET_PATH}/${path}`
    const [policy, ofSample] = [cachePolicy(url), cachePolicy(url, { isSynthetic: true })]
    return policy === ofSample ? policy : `${policy} (of the sample: ${ofSample})`
  })
  return [...policies]
    .map(([policy, paths]) => `- ${policy}: ${paths.map(([what, path]) => `${what} (\`${path}\`)`).join('; ')}`)
    .join('\n')
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ')
}

if (import.meta.main) {
  const docs = join(import.meta.dirname, '../docs')
  await writeFile(join(docs, 'reference.md'), renderReference())
  const operations = join(docs, 'operations.md')
  await writeFile(operations, renderLimits(await readFile(operations, 'utf8')))
}
