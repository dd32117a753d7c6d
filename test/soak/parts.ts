import type { SoakPart } from './part.ts'

/** All parts, in the order of docs/evidence/reliability.md. */
export const PARTS: Record<string, () => Promise<{ part: SoakPart }>> = {
  publish: () => import('./publish.ts'),
  store: () => import('./store.ts'),
  load: () => import('./load.ts'),
  endpoints: () => import('./endpoints.ts'),
  input: () => import('./input.ts'),
}
