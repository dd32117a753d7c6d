import { OTHER } from '../contract/ranking.ts'

const LONGEST_SLUG = 300

/** Why a slug may not be published; undefined if it may (DESIGN.md §6.6). Slugs are compared as written. */
export function slugProblem(slug: string): string | undefined {
  if (slug === '') return 'is empty'
  if (slug === OTHER) return `is ${OTHER}, which is reserved for the row of all other models`
  if ([...slug].length > LONGEST_SLUG) return `is longer than ${LONGEST_SLUG} characters`
  if (!slug.isWellFormed()) return 'has half of a character'
  if (/\p{Cc}/u.test(slug)) return 'has a control character'
  if (/^[=+@-]/.test(slug)) return `begins with ${slug.slice(0, 1)}, which a spreadsheet would run as a formula`
  return undefined
}
