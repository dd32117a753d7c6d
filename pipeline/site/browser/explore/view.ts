import type { Grain } from './calendar.ts'

/** Days back from the last date of the release. */
export const PRESETS = [30, 90, 365, 'all'] as const
export type Preset = (typeof PRESETS)[number]

export const GRAINS = ['day', 'week', 'month'] as const satisfies readonly Grain[]
export const SCALES = ['tokens', 'share'] as const
export const FORMS = ['stacked', 'lines'] as const
export const ORDERS = ['date', '-date', 'model', '-model', 'tokens', '-tokens', 'share', '-share'] as const
export type Order = (typeof ORDERS)[number]

/** All that a person can choose. The URL holds all of it. */
export interface View {
  window: { days: Preset } | { from: string; to: string }
  /** Slugs in the order chosen; empty means all. */
  models: readonly string[]
  by: Grain
  show: (typeof SCALES)[number]
  as: (typeof FORMS)[number]
  rest: boolean
  order: Order | undefined
  search: string
  page: number
}

export const DEFAULT_VIEW: View = {
  window: { days: 90 },
  models: [],
  by: 'day',
  show: 'tokens',
  as: 'stacked',
  rest: true,
  order: undefined,
  search: '',
  page: 1,
}
