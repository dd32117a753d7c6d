import { z } from 'zod'
import { CliError } from '../base/errors.ts'
import { byCodePoints } from '../contract/code-points.ts'
import { slugProblem } from './slug.ts'

/** One model of `models.json`. `aliases` are its other names in raw logs. */
export const Model = z.strictObject({
  model_permaslug: z.string().describe('The permanent slug, as it is published.'),
  aliases: z
    .array(z.string())
    .default([])
    .describe('Other names of the model in your logs. Those of public models are published.'),
  public: z.boolean().describe('Whether its usage is published.'),
  name: z.string().optional().describe('Its name for people; published.'),
  author: z.string().optional().describe('Who made it; published.'),
})
export type Model = z.infer<typeof Model>

/** `withheld`: the registry does not know the model. */
export type Visibility = 'public' | 'private' | 'withheld'

export interface Registry {
  /** The slug for `name`, or `name` itself. An unlisted `base:variant` follows its base. */
  resolve(name: string): string
  visibility(slug: string): Visibility
  /** The names of a public model; empty for others. An unlisted variant is named after its base. */
  names(slug: string): ModelNames
}

/** Empty texts are unknown. */
export interface ModelNames {
  name: string
  author: string
  /** In code point order, without those of an aliases file, which may be private. */
  aliases: string[]
}

export interface Alias {
  alias: string
  model_permaslug: string
}

/**
 * Makes the registry from models and extra aliases (DESIGN.md §5). Throws `CliError` for a slug that may not be
 * published, a duplicate slug or alias, and an alias that is a slug.
 */
export function createRegistry(models: readonly Model[], extraAliases: readonly Alias[]): Registry {
  const bySlug = new Map<string, Model>()
  for (const model of models) {
    checkSlug(model.model_permaslug)
    if (bySlug.has(model.model_permaslug)) throw new CliError(`model ${quoted(model.model_permaslug)} is listed twice`)
    bySlug.set(model.model_permaslug, model)
  }
  const listed = models.flatMap(({ aliases, model_permaslug }) => aliases.map((alias) => ({ alias, model_permaslug })))
  const all = [...listed, ...extraAliases]
  const slugs = new Set([...bySlug.keys(), ...all.map(({ model_permaslug }) => model_permaslug)])
  const slugByAlias = new Map<string, string>()
  for (const { alias, model_permaslug } of all) {
    checkSlug(model_permaslug)
    if (alias === model_permaslug) continue
    if (slugs.has(alias)) throw new CliError(`alias ${quoted(alias)} is also the slug of a model`)
    if (slugByAlias.has(alias)) throw new CliError(`alias ${quoted(alias)} is given twice`)
    slugByAlias.set(alias, model_permaslug)
  }
  return {
    resolve: (name) => resolve(name, bySlug, slugByAlias),
    visibility: (slug) => {
      const model = bySlug.get(slug) ?? bySlug.get(splitVariant(slug)?.base ?? slug)
      if (model === undefined) return 'withheld'
      return model.public ? 'public' : 'private'
    },
    names: (slug) => namesOf(slug, bySlug),
  }
}

function resolve(name: string, bySlug: ReadonlyMap<string, Model>, slugByAlias: ReadonlyMap<string, string>): string {
  if (bySlug.has(name)) return name
  const slug = slugByAlias.get(name)
  if (slug !== undefined) return slug
  const split = splitVariant(name)
  if (split === undefined) return name
  const base = slugByAlias.get(split.base)
  return base === undefined ? name : `${base}${split.suffix}`
}

function namesOf(slug: string, bySlug: ReadonlyMap<string, Model>): ModelNames {
  const own = bySlug.get(slug)
  const split = own === undefined ? splitVariant(slug) : undefined
  const model = own ?? bySlug.get(split?.base ?? slug)
  if (model === undefined || !model.public) return { name: '', author: '', aliases: [] }
  const name = published(model.name)
  return {
    name: split === undefined || name === '' ? name : `${name} (${split.suffix.slice(1)})`,
    author: published(model.author),
    aliases: own === undefined ? [] : [...new Set(own.aliases)].filter((alias) => alias !== slug).sort(byCodePoints),
  }
}

/** Drops text that a spreadsheet would run as a formula, or with control characters. */
function published(text = ''): string {
  return /^[=+@-]|\p{Cc}/u.test(text) ? '' : text
}

/** `author/model:free` -> base `author/model`, suffix `:free`; undefined if either is empty. */
export function splitVariant(name: string): { base: string; suffix: string } | undefined {
  const colon = name.lastIndexOf(':')
  return colon > 0 && colon < name.length - 1 ? { base: name.slice(0, colon), suffix: name.slice(colon) } : undefined
}

function checkSlug(slug: string): void {
  const problem = slugProblem(slug)
  if (problem !== undefined) throw new CliError(`model_permaslug ${quoted(slug)} ${problem}`)
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
