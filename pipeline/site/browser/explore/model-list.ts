import { byId, make } from './dom.ts'
import type { Shown } from './frame.ts'
import type { Change } from './table-view.ts'
import { type Group, PLURAL } from './view.ts'

/** The names that a person can choose. `namesOf` gives all of a group, the largest first. */
export function modelList(namesOf: (group: Group) => readonly string[], change: Change): { show(shown: Shown): void } {
  const search = byId('models-search', HTMLInputElement)
  const count = byId('models-count', HTMLSpanElement)
  let group: Group | undefined
  let boxes = new Map<string, HTMLInputElement>()
  let labels: HTMLLabelElement[] = []
  let chosen: readonly string[] = []

  byId('models-clear', HTMLButtonElement).addEventListener('click', () => change({ names: [], hidden: [], page: 1 }))
  search.addEventListener('input', filter)

  function fill(of: Group): void {
    group = of
    boxes = new Map(namesOf(of).map((name) => [name, make('input', { type: 'checkbox', value: name })]))
    labels = [...boxes].map(([name, box]) => make('label', {}, box, make('span', {}, name)))
    byId('models-list', HTMLDivElement).replaceChildren(...labels)
    for (const [name, box] of boxes) {
      box.addEventListener('change', () => {
        const others = chosen.filter((one) => one !== name)
        change({ names: box.checked ? [...others, name] : others, page: 1 })
      })
    }
    filter()
  }

  function filter(): void {
    const wanted = search.value.trim().toLowerCase()
    for (const label of labels) label.hidden = !(label.textContent ?? '').toLowerCase().includes(wanted)
    const found = labels.filter(({ hidden }) => !hidden).length
    count.textContent = wanted === '' ? '' : `${found} of ${labels.length} ${PLURAL[group ?? 'model']}`
  }

  return {
    show({ view }) {
      if (view.of !== group) fill(view.of)
      chosen = view.names
      for (const [name, box] of boxes) box.checked = chosen.includes(name)
      byId('models-clear', HTMLButtonElement).disabled = chosen.length === 0
      byId('models-summary', HTMLSpanElement).textContent =
        chosen.length === 0 ? `the largest of ${boxes.size} ${PLURAL[view.of]}` : chosen.join(', ')
    },
  }
}
