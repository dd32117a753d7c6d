import type { ModelFacts } from '../contract/model-facts.ts'
import { splitVariant } from '../raw/registry.ts'

/**
 * The family of a model: its slug without the variant, so `acme/model:free` belongs to `acme/model`. Versions are not
 * merged. Slugs write dates and numbers in many ways, and a wrong guess would add up different models.
 */
export function familyOf(slug: string): string {
  return splitVariant(slug)?.base ?? slug
}

export interface Author {
  /** The name in lower case. Names that differ only in case are one author. */
  key: string
  name: string
  /** Most tokens first. */
  models: readonly ModelFacts[]
}

export interface Authors {
  /** In the order of their largest models. */
  all: readonly Author[]
  /** The key of a model's author; undefined if it has none. */
  keyOf: (slug: string) => string | undefined
  nameOf: (key: string) => string
}

/** The authors of models, as the publisher gives them; where it gives none, the slug up to its first slash. */
export function authorsOf(models: readonly ModelFacts[]): Authors {
  const given = new Map(models.map(({ model_permaslug, author }) => [model_permaslug, author]))
  const keyOf = (slug: string) => (given.get(slug) || beforeSlash(slug))?.toLowerCase()
  const groups = Map.groupBy(models, ({ model_permaslug }) => keyOf(model_permaslug))
  const all = [...groups].flatMap(([key, own]) =>
    key === undefined ? [] : { key, name: nameIn(own, key), models: own },
  )
  const names = new Map(all.map(({ key, name }) => [key, name]))
  return { all, keyOf, nameOf: (key) => names.get(key) ?? key }
}

function beforeSlash(slug: string): string | undefined {
  const slash = slug.indexOf('/')
  return slash > 0 ? slug.slice(0, slash) : undefined
}

function nameIn(models: readonly ModelFacts[], key: string): string {
  const given = models.find(({ author }) => author !== '')?.author
  return (
    given ?? models.map(({ model_permaslug }) => beforeSlash(model_permaslug)).find((name) => name !== undefined) ?? key
  )
}
