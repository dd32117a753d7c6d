import { isDate } from './calendar.ts'
import { DEFAULT_VIEW, FORMS, GRAINS, ORDERS, PRESETS, SCALES, type View } from './view.ts'

export interface ReadView {
  view: View
  notices: string[]
}

/** The query of a view without `?` and without default values. */
export function toQuery(view: View): string {
  const query = new URLSearchParams()
  const set = (name: string, value: string, byDefault: string) => value !== byDefault && query.set(name, value)
  if ('days' in view.window) set('days', String(view.window.days), '90')
  else {
    query.set('from', view.window.from)
    query.set('to', view.window.to)
  }
  for (const slug of view.models) query.append('models', slug)
  set('by', view.by, DEFAULT_VIEW.by)
  set('show', view.show, DEFAULT_VIEW.show)
  set('as', view.as, DEFAULT_VIEW.as)
  set('rest', view.rest ? '1' : '0', '1')
  set('sort', view.order ?? '', '')
  set('q', view.search, DEFAULT_VIEW.search)
  set('page', String(view.page), '1')
  return query.toString()
}

/** Reads what `toQuery` writes. Invalid values give the default and a notice; unknown names are ignored. */
export function fromQuery(text: string): ReadView {
  const query = new URLSearchParams(text)
  const notices: string[] = []
  function choice<T extends string | number | undefined>(name: string, choices: readonly T[], byDefault: T): T {
    const value = query.get(name)
    if (value === null) return byDefault
    const found = choices.find((one) => String(one) === value)
    if (found === undefined) notices.push(`${name}=${value} is none of ${choices.join(', ')}; it was left out.`)
    return found ?? byDefault
  }
  const view: View = {
    window: readWindow(query, notices) ?? { days: choice('days', PRESETS, 90) },
    models: [...new Set(query.getAll('models').filter((slug) => slug !== ''))],
    by: choice('by', GRAINS, DEFAULT_VIEW.by),
    show: choice('show', SCALES, DEFAULT_VIEW.show),
    as: choice('as', FORMS, DEFAULT_VIEW.as),
    rest: choice('rest', ['1', '0'], '1') === '1',
    order: choice('sort', ORDERS, undefined),
    search: query.get('q') ?? '',
    page: readPage(query.get('page'), notices),
  }
  return { view, notices }
}

function readWindow(query: URLSearchParams, notices: string[]): View['window'] | undefined {
  const [from, to] = [query.get('from'), query.get('to')]
  if (from === null && to === null) return undefined
  if (from !== null && to !== null && isDate(from) && isDate(to) && from <= to) return { from, to }
  notices.push(`from=${from ?? ''} and to=${to ?? ''} are not the first and last date of a window; it was left out.`)
  return undefined
}

function readPage(text: string | null, notices: string[]): number {
  if (text === null) return 1
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  notices.push(`page=${text} is no page; the first is shown.`)
  return 1
}
