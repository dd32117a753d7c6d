import { OTHER } from '../contract/ranking.ts'

const LONGEST_SLUG = 300

/** A name as it is compared, so that names that look the same are one. Case counts. */
export function plainSlug(name: string): string {
  return name
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .normalize('NFC')
    .trim()
}

/** Why a slug may not be published; undefined if it may: spreadsheets and terminals show slugs. */
export function slugProblem(slug: string): string | undefined {
  const plain = plainSlug(slug)
  if (plain === '') return 'is empty'
  if (plain.normalize('NFKC').toLowerCase() === OTHER) {
    return `is ${OTHER}, which is reserved for the row of all other models`
  }
  if ([...slug].length > LONGEST_SLUG) return `is longer than ${LONGEST_SLUG} characters`
  if (!slug.isWellFormed()) return 'has half of a character'
  if (/\p{Cc}/u.test(slug)) return 'has a control character'
  if (/\p{Bidi_Control}/u.test(slug)) return 'has a character that turns the direction of text'
  if (plain.includes(';')) return 'has a ;, which separates cells of a spreadsheet'
  const sign = formulaSign(plain)
  return sign && `begins with ${sign}, or has it after a separator: a spreadsheet would run it as a formula`
}

/**
 * The sign in a text that makes a spreadsheet run what follows: where the text begins, or where a spreadsheet that
 * separates or quotes cells otherwise would begin one.
 */
export function formulaSign(text: string): string | undefined {
  return /(?:^|[,;|\t\n\r"'])[^\S\t\n\r]*([=+@-])/.exec(text.normalize('NFKC'))?.[1]
}
