import { byId, make } from './dom.ts'
import type { Shown } from './frame.ts'
import { compareSlugs, OTHER, type Row } from './row.ts'
import { compareTokens } from './series.ts'
import type { Change } from './table-view.ts'

export function modelList(rows: readonly Row[], change: Change): { show(shown: Shown): void } {
  const search = byId('models-search', HTMLInputElement)
  const boxes = new Map(bySize(rows).map((slug) => [slug, make('input', { type: 'checkbox', value: slug })]))
  const labels = [...boxes].map(([slug, box]) => make('label', {}, box, make('span', {}, slug)))
  let chosen: readonly string[] = []

  byId('models-list', HTMLDivElement).replaceChildren(...labels)
  byId('models-clear', HTMLButtonElement).addEventListener('click', () => change({ models: [], page: 1 }))
  for (const [slug, box] of boxes) {
    box.addEventListener('change', () => {
      const others = chosen.filter((one) => one !== slug)
      change({ models: box.checked ? [...others, slug] : others, page: 1 })
    })
  }
  search.addEventListener('input', () => {
    const wanted = search.value.trim().toLowerCase()
    for (const label of labels) label.hidden = !(label.textContent ?? '').toLowerCase().includes(wanted)
    const found = labels.filter(({ hidden }) => !hidden).length
    byId('models-count', HTMLSpanElement).textContent = wanted === '' ? '' : `${found} of ${labels.length} models`
  })

  return {
    show({ view }) {
      chosen = view.models
      for (const [slug, box] of boxes) box.checked = chosen.includes(slug)
      byId('models-clear', HTMLButtonElement).disabled = chosen.length === 0
      byId('models-summary', HTMLSpanElement).textContent =
        chosen.length === 0 ? `the ten with most tokens, of ${boxes.size}` : chosen.join(', ')
    },
  }
}

function bySize(rows: readonly Row[]): string[] {
  const totals = new Map<string, bigint>()
  for (const { model_permaslug, total_tokens } of rows) {
    if (model_permaslug !== OTHER) totals.set(model_permaslug, (totals.get(model_permaslug) ?? 0n) + total_tokens)
  }
  return [...totals].sort(([a, x], [b, y]) => compareTokens(y, x) || compareSlugs(a, b)).map(([slug]) => slug)
}
