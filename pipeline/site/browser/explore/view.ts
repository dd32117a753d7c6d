import type { Grain } from './calendar.ts'

/** The windows on offer, in days back from the last date of the release. */
export const PRESETS = [30, 90, 365, 'all'] as const
export type Preset = (typeof PRESETS)[number]

export const GRAINS = ['day', 'week', 'month'] as const satisfies readonly Grain[]
export const SCALES = ['tokens', 'share'] as const
export const FORMS = ['stacked', 'lines'] as const
/** A minus stands for descending. Without an order, rows stand as they are published. */
export const ORDERS = ['date', '-date', 'model', '-model', 'tokens', '-tokens', 'share', '-share'] as const
export type Order = (typeof ORDERS)[number]

/** All that a person can choose: what is seen follows from this and the rows alone, and the URL holds it whole. */
export interface View {
  window: { days: Preset } | { from: string; to: string }
  /** Slugs, in the order in which they were chosen; none stands for all. */
  models: readonly string[]
  by: Grain
  show: (typeof SCALES)[number]
  as: (typeof FORMS)[number]
  /** Whether the chart shows what is not one of its models. */
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
