/** `make docs`: writes docs/reference.md and the limits in docs/operations.md from the code. Tests fail when they are not current. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { z } from 'zod'
import { PipelineSettings } from '../pipeline/base/config.ts'
import { markdownTable } from '../pipeline/base/markdown.ts'
import { createProgram, EXIT_CODES } from '../pipeline/commands/program.ts'
import { Dois } from '../pipeline/contract/dois.ts'
import { DATASET_PATH, Publisher } from '../pipeline/contract/manifest.ts'
import { Model } from '../pipeline/raw/registry.ts'
import { SourcesFile } from '../pipeline/raw/sources.ts'
import { ServerSettings } from '../server/base/config.ts'
import { cachePolicy } from '../server/published/cache-policy.ts'
import { renderLimits } from './limits.ts'

const INTRODUCTION = `# Reference

All settings, commands, keys of configuration files, exit codes and cache rules. This page is made from the code by \`make docs\`,
and a test fails when it is not current.`

export function renderReference(): string {
  const build = jsonSchema(PipelineSettings)
  const server = jsonSchema(ServerSettings)
  const shared = Object.keys(server.properties ?? {}).filter((name) => build.properties?.[name] !== undefined)
  for (const name of shared) delete server.properties?.[name]
  const { sources, engine } = jsonSchema(SourcesFile).properties ?? {}
  const { clickhouse } = engine?.properties ?? {}
  return [
    INTRODUCTION,
    '## Settings',
    `Settings are environment or make variables: \`make serve PORT=9000\`. An empty one counts as unset. ${code(shared)} hold for the build and the server.`,
    '### Settings of the build',
    keyTable('setting', build),
    '### Settings of the server',
    keyTable('setting', server),
    '## Files that you write',
    '[Publishing](publishing.md) shows them in use. An unknown key is an error that names the nearest known key.',
    '### The sources file',
    'A JSON object. Relative paths in it are relative to the file.',
    keyTable('key', jsonSchema(SourcesFile)),
    '### A source',
    'An item of `sources`. [Sources](sources.md) describes each schema.',
    keyTable('key', sources?.items),
    '### `engine`',
    'For usage that is in ClickHouse or summed elsewhere ([scaling](scaling.md)).',
    keyTable('key', engine),
    '### `engine.clickhouse`',
    keyTable('key', clickhouse),
    '### The registry of models',
    'The file that `models` names: a JSON array of objects.',
    keyTable('key', jsonSchema(Model)),
    '### The publisher',
    '`DATA_DIR/publisher.json`: a JSON object. The file that comes with the project is a placeholder for the sample.',
    keyTable('key', jsonSchema(Publisher)),
    '### DOIs',
    '`DATA_DIR/dois.json`, if releases are [deposited](publishing.md#dois).',
    keyTable('key', jsonSchema(Dois)),
    '## Commands',
    'Each command is a make target of the same name, and `ARGS` goes to it: `make build ARGS="--dry-run --json"`. All take `--help`. Progress and text for people go to stderr, results to stdout.',
    ...createProgram().commands.flatMap((command) => describeCommand(command, '###')),
    '## Exit codes',
    table(['code', 'meaning'], Object.entries(EXIT_CODES)),
    'Wrong files and settings are reported together, before anything is read or built: each fault on a line, those of files as `FILE:LINE: …`. make itself turns any failure into 2, and adds a line `make: *** …`.',
    '## Cache rules of published paths',
    'What `make serve` sends as `Cache-Control`; [hosting](hosting.md) has the same rules for other hosts. Synthetic releases and revisions are never immutable, because the first real release replaces them.',
    table(['path', 'Cache-Control', 'while synthetic'], PUBLISHED.map(cacheRow)),
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

function keyTable(what: string, schema: JsonSchema | undefined): string {
  const rows = Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    if (property.description === undefined) throw new Error(`${name} has no description in the code`)
    const missing = (property.enum ?? property.items?.enum ?? []).filter(
      (choice) => !property.description?.includes(`\`${choice}\``) && choice !== property.default,
    )
    const choices = missing.length === 0 ? '' : ` Choices: ${code(property.enum ?? property.items?.enum ?? [])}.`
    return [
      `\`${name}\``,
      defaultOf(property, schema?.required?.includes(name) ?? false),
      property.description + choices,
    ]
  })
  return table([what, 'default', 'meaning'], rows)
}

function defaultOf({ default: value, unset }: JsonSchema, isRequired: boolean): string {
  if (isRequired) return 'required'
  if (value === undefined) return unset ?? 'none'
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

function describeCommand(command: CommandUnknownOpts, heading: string, parents: string[] = []): string[] {
  const name = [...parents, command.name()].join(' ')
  const children = command.commands.flatMap((child) => describeCommand(child, `${heading}#`, [name]))
  const words = command.registeredArguments.map((argument) => {
    const word = argument.variadic ? `${argument.name()}...` : argument.name()
    return [`\`${argument.required ? `<${word}>` : `[${word}]`}\``, argument.description]
  })
  const options = command.options.map((option) => [`\`${option.flags}\``, describeOption(option)])
  const rows = [...words, ...options]
  return [
    `${heading} \`${name}\``,
    command.description(),
    ...(rows.length === 0 ? [] : [table(['argument or flag', 'meaning'], rows)]),
    ...(children.length === 0 ? notesOf(command) : children),
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

/** What `--help` says after the list of flags. */
function notesOf(command: CommandUnknownOpts): string[] {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) })
  command.outputHelp()
  const notes = help.slice(command.helpInformation().length).trim()
  // Lines of examples are indented by two spaces; four make them code.
  return notes === '' ? [] : [notes.replaceAll(/^ {2}(?=\S)/gm, '    ')]
}

const PUBLISHED = [
  ['files of a release', 'releases/20261120T001200Z/rankings-daily.csv'],
  ['the tombstone of a withdrawn release', 'releases/20261120T001200Z/TOMBSTONE.json'],
  ['the page of a release, which another one replaces if it is withdrawn', 'releases/20261120T001200Z/index.html'],
  ['the newest release', 'latest/rankings-daily.csv'],
  ['the pointer and the indexes', 'latest.json'],
  ['the newest revision of a day or month', 'daily/2026-11-19.csv'],
  ['a revision of a day', 'daily/2026-11-19/r1.csv'],
  ['a revision of a month', 'monthly/2026-11/r1.csv'],
  ['pages, feeds, the catalog', '/index.html'],
  ['assets named by their hash', '/assets/site.0f3a5c7e.css'],
] as const

function cacheRow([what, path]: (typeof PUBLISHED)[number]): string[] {
  const url = path.startsWith('/') ? path : `/${DATASET_PATH}/${path}`
  return [`${what}: \`${path}\``, cachePolicy(url), cachePolicy(url, { isSynthetic: true })]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return markdownTable(head, rows).trimEnd()
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
