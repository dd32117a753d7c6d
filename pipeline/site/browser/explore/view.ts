import type { Grain } from '../../chart/calendar.ts'
import { authorOf, familyOf } from '../../chart/rows.ts'

/** Days back from the last date of the release. */
export const PRESETS = [30, 90, 365, 'all'] as const
export type Preset = (typeof PRESETS)[number]

export const GRAINS = ['day', 'week', 'month'] as const satisfies readonly Grain[]
export const BY = ['auto', ...GRAINS] as const
export const MEASURES = ['tokens', 'share', 'index'] as const
export const FORMS = ['stacked', 'lines'] as const
export const ORDERS = ['date', '-date', 'model', '-model', 'tokens', '-tokens', 'share', '-share'] as const
export type Order = (typeof ORDERS)[number]

/** What a row counts for. */
export const GROUPS = ['model', 'family', 'author'] as const
export type Group = (typeof GROUPS)[number]

export const PLURAL: Readonly<Record<Group, string>> = { model: 'models', family: 'families', author: 'authors' }

/** The name that a model counts for in each group. */
export type NameOf = Readonly<Record<Group, (slug: string) => string>>

/** `authors` has the models whose author is not the one in their slug. */
export function nameOfBy(authors: ReadonlyMap<string, string>): NameOf {
  return { model: (slug) => slug, family: familyOf, author: (slug) => authors.get(slug) ?? authorOf(slug) }
}

/** All that a person can choose. The URL holds all of it. */
export interface View {
  window: { days: Preset } | { from: string; to: string }
  of: Group
  /** In the order chosen; empty means all. */
  names: readonly string[]
  /** `auto` follows from the number of days and the width of the screen. */
  by: (typeof BY)[number]
  show: (typeof MEASURES)[number]
  as: (typeof FORMS)[number]
  isLog: boolean
  /** Undefined: drawn in a stack of all, and left out when names are chosen, because it would hide them. */
  rest: boolean | undefined
  /** Series that stay in the legend and are not drawn. */
  hidden: readonly string[]
  order: Order | undefined
  search: string
  page: number
  /** Undefined for the current release. */
  release: string | undefined
}

export const DEFAULT_VIEW: View = {
  window: { days: 90 },
  of: 'model',
  names: [],
  by: 'auto',
  show: 'tokens',
  as: 'stacked',
  isLog: false,
  rest: undefined,
  hidden: [],
  order: undefined,
  search: '',
  page: 1,
  release: undefined,
}

/** An index compares lines. */
export function formOf({ as, show }: Pick<View, 'as' | 'show'>): View['as'] {
  return show === 'index' ? 'lines' : as
}

export function hasRest({ rest, names, as, show }: Pick<View, 'rest' | 'names' | 'as' | 'show'>): boolean {
  return rest ?? (names.length === 0 && formOf({ as, show }) === 'stacked')
}
