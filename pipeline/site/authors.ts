import { byCodePoints } from '../contract/code-points.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { sumTokens } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { beforeSlash } from './chart/rows.ts'

export interface Author {
  /** The name in lower case. Names that differ only in case are one author. */
  key: string
  name: string
  /** Most tokens first. */
  models: readonly ModelFacts[]
  /** At least these: `other` of a day is without authors. */
  tokens: bigint
  first_date: UtcDate
  last_date: UtcDate
}

/** What models without an author count for. No key is like it, because keys are in lower case. */
export const NO_AUTHOR = 'No author known'

export interface Authors {
  /** Most tokens first. */
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
  const all = [...groups].flatMap(([key, own]) => (key === undefined ? [] : authorOf(key, own)))
  all.sort((a, b) => (a.tokens === b.tokens ? byCodePoints(a.key, b.key) : a.tokens > b.tokens ? -1 : 1))
  const names = new Map(all.map(({ key, name }) => [key, name]))
  return { all, keyOf, nameOf: (key) => names.get(key) ?? key }
}

function authorOf(key: string, models: readonly ModelFacts[]): Author {
  const given = models.find(({ author }) => author !== '')?.author
  const [first = key] = models.flatMap(({ model_permaslug }) => beforeSlash(model_permaslug) ?? [])
  return {
    key,
    name: given ?? first,
    models,
    tokens: sumTokens(models),
    first_date: models.map(({ first_date }) => first_date).sort()[0] ?? '',
    last_date:
      models
        .map(({ last_date }) => last_date)
        .sort()
        .at(-1) ?? '',
  }
}
