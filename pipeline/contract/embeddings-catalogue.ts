import { byCodePoints } from './code-points.ts'

/** The embeddings catalogue, below DATA_DIR and in the project. */
export const CATALOGUE_FILE = 'embeddings-models.json'

/** The catalogue shipped with the project. */
export const SHIPPED_CATALOGUE = new URL(`../../data/${CATALOGUE_FILE}`, import.meta.url)

/** The order of the list (API.md): newest first, then by the code points of `id`. */
export function inListOrder(a: ListedModel, b: ListedModel): number {
  return b.created - a.created || byCodePoints(a.id, b.id)
}

interface ListedModel {
  id: string
  created: number
}
