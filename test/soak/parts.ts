import type { SoakPart } from './part.ts'

/** All parts, in the order of docs/reliability.md. */
export const PARTS: Record<string, () => Promise<{ part: SoakPart }>> = {
  input: () => import('./input.ts'),
}
