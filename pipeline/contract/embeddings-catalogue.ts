import { byCodePoints } from './code-points.ts'

export const CATALOGUE_FILE = 'embeddings-models.json'

export const SHIPPED_CATALOGUE = new URL(`../../data/${CATALOGUE_FILE}`, import.meta.url)

/** The order of the list: newest first, then by the code points of `id`. */
export function inListOrder(a: ListedModel, b: ListedModel): number {
  return b.created - a.created || byCodePoints(a.id, b.id)
}

interface ListedModel {
  id: string
  created: number
}
