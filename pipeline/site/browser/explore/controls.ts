import { isDate } from './calendar.ts'
import { byId } from './dom.ts'
import type { Shown } from './frame.ts'
import type { Change } from './table-view.ts'
import { FORMS, GRAINS, PRESETS, SCALES } from './view.ts'
import type { Window } from './window.ts'

export function controls(change: Change, reach: Window): { show(shown: Shown): void } {
  const form = byId('controls', HTMLFormElement)
  const input = (name: string) => {
    const found = form.elements.namedItem(name)
    if (found instanceof HTMLInputElement) return found
    throw new Error(`the form has no input ${name}`)
  }
  const [from, to, rest] = [input('from'), input('to'), input('rest')]
  for (const date of [from, to]) {
    date.min = reach.from
    date.max = reach.to
  }

  form.addEventListener('submit', (event) => event.preventDefault())
  onChoice(form, 'days', PRESETS, (days) => change({ window: { days }, page: 1 }))
  onChoice(form, 'by', GRAINS, (by) => change({ by, page: 1 }))
  onChoice(form, 'show', SCALES, (show) => change({ show }))
  onChoice(form, 'as', FORMS, (as) => change({ as }))
  rest.addEventListener('change', () => change({ rest: rest.checked }))
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
      choose(form, 'days', 'days' in view.window ? String(view.window.days) : undefined)
      choose(form, 'by', view.by)
      choose(form, 'show', view.show)
      choose(form, 'as', view.as)
      rest.checked = view.rest
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
