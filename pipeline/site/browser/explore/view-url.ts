import { isDate } from '../../chart/calendar.ts'
import { BY, DEFAULT_VIEW, FORMS, GROUPS, MEASURES, ORDERS, PRESETS, type View } from './view.ts'

export interface ReadView {
  view: View
  notices: string[]
}

const RELEASE = /^\d{8}T\d{6}Z$/

/** The query of a view without `?` and without default values. */
export function toQuery(view: View): string {
  const query = new URLSearchParams()
  const set = (name: string, value: string, byDefault: string) => value !== byDefault && query.set(name, value)
  if ('days' in view.window) set('days', String(view.window.days), '90')
  else {
    query.set('from', view.window.from)
    query.set('to', view.window.to)
  }
  set('of', view.of, DEFAULT_VIEW.of)
  for (const name of view.names) query.append('models', name)
  set('by', view.by, DEFAULT_VIEW.by)
  set('show', view.show, DEFAULT_VIEW.show)
  set('as', view.as, DEFAULT_VIEW.as)
  set('log', view.isLog ? '1' : '0', '0')
  set('rest', view.rest === undefined ? '' : view.rest ? '1' : '0', '')
  for (const name of view.hidden) query.append('hide', name)
  set('sort', view.order ?? '', '')
  set('q', view.search, DEFAULT_VIEW.search)
  set('page', String(view.page), '1')
  set('release', view.release ?? '', '')
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
  const all = (name: string) => [...new Set(query.getAll(name).filter((value) => value !== ''))]
  const rest = choice('rest', ['1', '0', undefined], undefined)
  const view: View = {
    window: readWindow(query, notices) ?? { days: choice('days', PRESETS, 90) },
    of: choice('of', GROUPS, DEFAULT_VIEW.of),
    names: all('models'),
    by: choice('by', BY, DEFAULT_VIEW.by),
    show: choice('show', MEASURES, DEFAULT_VIEW.show),
    as: choice('as', FORMS, DEFAULT_VIEW.as),
    isLog: choice('log', ['1', '0'], '0') === '1',
    rest: rest === undefined ? undefined : rest === '1',
    hidden: all('hide'),
    order: choice('sort', ORDERS, undefined),
    search: query.get('q') ?? '',
    page: readPage(query.get('page'), notices),
    release: readRelease(query.get('release'), notices),
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

function readRelease(text: string | null, notices: string[]): string | undefined {
  if (text === null || RELEASE.test(text)) return text ?? undefined
  notices.push(`release=${text} is no release; the current one is shown.`)
  return undefined
}
