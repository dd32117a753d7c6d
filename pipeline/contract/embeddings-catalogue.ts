import { byCodePoints } from './code-points.ts'

/** The catalogue of embeddings models as a file, below DATA_DIR and in the project. */
export const CATALOGUE_FILE = 'embeddings-models.json'

/** The one that comes with the project, for who has none of their own. */
export const SHIPPED_CATALOGUE = new URL(`../../data/${CATALOGUE_FILE}`, import.meta.url)

/** The order of the list (API.md): newest first; equally new ones by the code points of `id`. */
export function inListOrder(a: ListedModel, b: ListedModel): number {
  return b.created - a.created || byCodePoints(a.id, b.id)
}

interface ListedModel {
  id: string
  created: number
}
