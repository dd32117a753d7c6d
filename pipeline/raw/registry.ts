import { z } from 'zod'
import { UsageError } from '../base/errors.ts'
import { byCodePoints } from '../contract/code-points.ts'
import { slugProblem } from './slug.ts'

/** One model of `models.json`: its slug, the other names it has in raw logs, and whether its usage is public. */
export const Model = z.strictObject({
  model_permaslug: z.string(),
  aliases: z.array(z.string()).default([]),
  public: z.boolean(),
  name: z.string().optional(),
  author: z.string().optional(),
})
export type Model = z.infer<typeof Model>

/** What the registry says of a model: `withheld` means that it does not know it. */
export type Visibility = 'public' | 'private' | 'withheld'

/** Knows the models: which slug a name in a raw log stands for, and whether its usage is public. */
export interface Registry {
  /** The slug that `name` stands for; `name` itself when it is no alias. An unlisted `base:variant` follows its base. */
  resolve(name: string): string
  visibility(slug: string): Visibility
  /** How a public model is called. An unlisted variant is named after its base; what is not public has no names. */
  names(slug: string): ModelNames
}

/** What may be published of a model beside its numbers; texts are empty where the registry has none. */
export interface ModelNames {
  name: string
  author: string
  /** In code point order. Those of an aliases file are not among them: it may name what is private. */
  aliases: string[]
}

/** An alias and the slug it stands for, as a line of an aliases file. */
export interface Alias {
  alias: string
  model_permaslug: string
}

/**
 * Makes the registry from models and extra aliases (DESIGN.md §5, sources file).
 * Throws `UsageError` for a slug that may not be published, a slug or alias given twice, and an alias that is a slug.
 */
export function createRegistry(models: readonly Model[], extraAliases: readonly Alias[]): Registry {
  const bySlug = new Map<string, Model>()
  for (const model of models) {
    assertSlug(model.model_permaslug)
    if (bySlug.has(model.model_permaslug))
      throw new UsageError(`model ${quoted(model.model_permaslug)} is listed twice`)
    bySlug.set(model.model_permaslug, model)
  }
  const listed = models.flatMap(({ aliases, model_permaslug }) => aliases.map((alias) => ({ alias, model_permaslug })))
  const all = [...listed, ...extraAliases]
  const slugs = new Set([...bySlug.keys(), ...all.map(({ model_permaslug }) => model_permaslug)])
  const slugByAlias = new Map<string, string>()
  for (const { alias, model_permaslug } of all) {
    assertSlug(model_permaslug)
    if (alias === model_permaslug) continue
    if (slugs.has(alias)) throw new UsageError(`alias ${quoted(alias)} is also the slug of a model`)
    if (slugByAlias.has(alias)) throw new UsageError(`alias ${quoted(alias)} is given twice`)
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

/** A text that a spreadsheet would run, or that is more than one line, is left out of what is published. */
function published(text = ''): string {
  return /^[=+@-]|\p{Cc}/u.test(text) ? '' : text
}

/** `author/model:free` -> base `author/model`, suffix `:free`; undefined where either would be empty. */
export function splitVariant(name: string): { base: string; suffix: string } | undefined {
  const colon = name.lastIndexOf(':')
  return colon > 0 && colon < name.length - 1 ? { base: name.slice(0, colon), suffix: name.slice(colon) } : undefined
}

function assertSlug(slug: string): void {
  const problem = slugProblem(slug)
  if (problem !== undefined) throw new UsageError(`model_permaslug ${quoted(slug)} ${problem}`)
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
