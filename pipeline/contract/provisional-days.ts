/** A date stays provisional for this many days after its end (docs/decisions/0008-provisional-days.md). */
export const PROVISIONAL_DAYS = 3
