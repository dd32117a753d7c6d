import { z } from 'zod'
import { CliError } from '../base/errors.ts'
import { byCodePoints } from '../contract/code-points.ts'
import { formulaSign, plainSlug, slugProblem } from './slug.ts'

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
  /**
   * The slug for `name`, or `name` itself without what nobody sees. The very name wins over one that looks the same. An
   * unlisted `base:variant` follows its base.
   */
  resolve(name: string): string
  visibility(slug: string): Visibility
  /** Whether a public model is listed by this very slug. */
  isListedPublic(slug: string): boolean
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

/** What is wrong with an entry of the models or of the aliases, and where it is in that list. */
export interface RegistryFault {
  of: 'models' | 'aliases'
  place: readonly (string | number)[]
  problem: string
}

/**
 * Makes the registry from models and extra aliases. Throws `CliError` for each slug that may not be
 * published, duplicate slug or alias, and alias that is a slug.
 */
export function createRegistry(
  models: readonly Model[],
  extraAliases: readonly Alias[],
  describe: (fault: RegistryFault) => string = ({ problem }) => problem,
): Registry {
  const listed = models.flatMap(({ aliases, model_permaslug }, model) =>
    aliases.map((alias, position) => ({ alias, model_permaslug, ...at('models', model, 'aliases', position) })),
  )
  const extra = extraAliases.map((each, position) => ({ ...each, ...at('aliases', position) }))
  const all = [...listed, ...extra]
  const faults = [...faultsOfSlugs(models, extra), ...faultsOfAliases(models, all)]
  if (faults.length > 0) throw new CliError(faults.map(describe))
  const bySlug = new Map(models.map((model) => [model.model_permaslug, model]))
  const slugs = [...models, ...all].map(({ model_permaslug }) => model_permaslug)
  const slugByName = new Map([
    ...all.map(({ alias, model_permaslug }) => [alias, model_permaslug] as const),
    ...slugs.map((slug) => [slug, slug] as const),
  ])
  const slugByPlainName = new Map([...slugByName].toReversed().map(([name, slug]) => [plainSlug(name), slug]))
  const find = (name: string) =>
    slugByName.get(name) ?? slugByName.get(plainSlug(name)) ?? slugByPlainName.get(plainSlug(name))
  return {
    resolve: (name) => find(name) ?? resolveVariant(plainSlug(name), find),
    visibility: (slug) => {
      const model = bySlug.get(slug) ?? bySlug.get(splitVariant(slug)?.base ?? slug)
      if (model === undefined) return 'withheld'
      return model.public ? 'public' : 'private'
    },
    isListedPublic: (slug) => bySlug.get(slug)?.public === true,
    names: (slug) => namesOf(slug, bySlug),
  }
}

type Place = Omit<RegistryFault, 'problem'>

function at(of: Place['of'], ...place: Place['place']): Place {
  return { of, place }
}

function faultsOfSlugs(models: readonly Model[], extra: readonly (Alias & Place)[]): RegistryFault[] {
  const entries = [
    ...models.map(({ model_permaslug }, model) => ({ model_permaslug, ...at('models', model, 'model_permaslug') })),
    ...extra,
  ]
  const known = new Set<string>()
  return entries.flatMap(({ model_permaslug, of, place }) => {
    const problem = slugProblem(model_permaslug)
    const isTwice = of === 'models' && known.has(model_permaslug)
    if (of === 'models') known.add(model_permaslug)
    return [
      ...(problem === undefined
        ? []
        : [{ of, place, problem: `model_permaslug ${quoted(model_permaslug)} ${problem}` }]),
      ...(isTwice ? [{ of, place, problem: `model ${quoted(model_permaslug)} is listed twice` }] : []),
    ]
  })
}

function faultsOfAliases(models: readonly Model[], all: readonly (Alias & Place)[]): RegistryFault[] {
  const slugs = new Set([...models, ...all].map(({ model_permaslug }) => model_permaslug))
  const known = new Set<string>()
  return all.flatMap(({ alias, model_permaslug, of, place }) => {
    if (alias === model_permaslug) return []
    const isTwice = known.has(alias)
    known.add(alias)
    if (slugs.has(alias)) return [{ of, place, problem: `alias ${quoted(alias)} is also the slug of a model` }]
    return isTwice ? [{ of, place, problem: `alias ${quoted(alias)} is given twice` }] : []
  })
}

function resolveVariant(name: string, find: (name: string) => string | undefined): string {
  const split = splitVariant(name)
  const base = split && find(split.base)
  return base === undefined ? name : `${base}${split?.suffix}`
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

/** Drops text that a spreadsheet would run as a formula, or with characters that change how text is shown. */
function published(text = ''): string {
  return formulaSign(text) !== undefined || /\p{Cc}|\p{Bidi_Control}/u.test(text) ? '' : text
}

/** `author/model:free` -> base `author/model`, suffix `:free`; undefined if either is empty. */
export function splitVariant(name: string): { base: string; suffix: string } | undefined {
  const colon = name.lastIndexOf(':')
  return colon > 0 && colon < name.length - 1 ? { base: name.slice(0, colon), suffix: name.slice(colon) } : undefined
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
