import { isDate } from '../../chart/calendar.ts'
import { byId } from './dom.ts'
import type { Shown } from './frame.ts'
import type { OpenRelease } from './open-release.ts'
import type { Change } from './table-view.ts'
import { BY, FORMS, formOf, GROUPS, hasRest, MEASURES, PRESETS, type View } from './view.ts'

export function controls(
  change: Change,
  { source, reach }: Pick<OpenRelease, 'source' | 'reach'>,
): { show(shown: Shown): void } {
  const form = byId('controls', HTMLFormElement)
  const input = (name: string) => {
    const found = form.elements.namedItem(name)
    if (found instanceof HTMLInputElement) return found
    throw new Error(`the form has no input ${name}`)
  }
  const [from, to, rest, log] = [input('from'), input('to'), input('rest'), input('log')]
  let current: View | undefined
  for (const date of [from, to]) {
    date.min = reach.from
    date.max = reach.to
  }

  form.addEventListener('submit', (event) => event.preventDefault())
  onChoice(form, 'days', PRESETS, (days) => change({ window: { days }, page: 1 }))
  onChoice(form, 'of', GROUPS, (of) => {
    const names = [...new Set((current?.names ?? []).map(source.nameOf[of]))]
    change({ of, names: of === 'model' ? [] : names, hidden: [], page: 1 })
  })
  onChoice(form, 'by', BY, (by) => change({ by, page: 1 }))
  onChoice(form, 'show', MEASURES, (show) => change({ show }))
  onChoice(form, 'as', FORMS, (as) => change({ as }))
  rest.addEventListener('change', () => change({ rest: rest.checked }))
  log.addEventListener('change', () => change({ isLog: log.checked }))
  for (const date of [from, to]) {
    date.addEventListener('change', () => {
      if (!isDate(from.value) || !isDate(to.value)) return
      // If the order is wrong, both dates become the chosen one.
      const isOrdered = from.value <= to.value
      const window = isOrdered ? { from: from.value, to: to.value } : { from: date.value, to: date.value }
      change({ window, page: 1 })
    })
  }

  return {
    show({ view, window }) {
      current = view
      choose(form, 'days', 'days' in view.window ? String(view.window.days) : undefined)
      choose(form, 'of', view.of)
      choose(form, 'by', view.by)
      choose(form, 'show', view.show)
      choose(form, 'as', formOf(view))
      for (const radio of radios(form, 'as')) radio.disabled = view.show === 'index' && radio.value === 'stacked'
      rest.checked = hasRest(view)
      log.checked = view.isLog && formOf(view) === 'lines'
      log.disabled = formOf(view) !== 'lines'
      from.value = window.from
      to.value = window.to
      byId('all-controls', HTMLFieldSetElement).disabled = false
    },
  }
}

function radios(form: HTMLFormElement, name: string): HTMLInputElement[] {
  return [...form.querySelectorAll<HTMLInputElement>(`input[name="${name}"]`)]
}

function onChoice<T extends string | number>(
  form: HTMLFormElement,
  name: string,
  choices: readonly T[],
  chosen: (value: T) => void,
): void {
  for (const radio of radios(form, name)) {
    radio.addEventListener('change', () => {
      const value = choices.find((choice) => String(choice) === radio.value)
      if (value !== undefined) chosen(value)
    })
  }
}

function choose(form: HTMLFormElement, name: string, value: string | undefined): void {
  for (const radio of radios(form, name)) radio.checked = radio.value === value
}
