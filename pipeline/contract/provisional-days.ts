/** A date stays provisional for this many days after its end (DESIGN.md §6.11). */
export const PROVISIONAL_DAYS = 3
