/**
 * A contributor in the one spelling that all formats share; null for what names nobody: blank text, objects and lists. Taking
 * two contributors for one hides more than it must, but taking one for several would reveal them, so more is folded than seems
 * needed.
 */
export function contributorName(text: string): string | null {
  const visible = text.normalize('NFKC').replaceAll(WHITE_SPACE, ' ').replaceAll(INVISIBLE, '')
  // Upper case first: it alone makes ß and ss one, and the two small sigmas.
  const name = bare(visible.toUpperCase().toLowerCase().normalize('NFKC').replaceAll(/ +/g, ' '))
  if (name === '' || /^[[{]/.test(name)) return null
  // Dashes, dots and question marks stand for nobody, in whatever number.
  if (/^[\p{P} ]+$/u.test(name)) return '-'
  return wholeNumber(name.replaceAll(/[^\P{Nd}\d]/gu, decimalDigit)) ?? name
}

/** What stands for nobody in any log, as `contributorName` writes it. */
export const NO_CONTRIBUTOR: readonly string[] = [
  '-',
  'null',
  '(null)',
  '<null>',
  '\\n',
  'nil',
  '<nil>',
  'none',
  '(none)',
  '<none>',
  'n/a',
  'n.a.',
  '#n/a',
  'na',
  '<na>',
  'nan',
  'nat',
  'undefined',
  'unknown',
  '(unknown)',
  '<unknown>',
  'inf',
  '-inf',
  'infinity',
  '-infinity',
  'blank',
  '(blank)',
  'empty',
  '(empty)',
  '<empty>',
  'missing',
  'not set',
  '(not set)',
  'not available',
  'not applicable',
  'unspecified',
  'anonymous',
  'anon',
  'nobody',
  'no user',
  '00000000-0000-0000-0000-000000000000',
]

const WHITE_SPACE = /[\s\p{Z}\u2800]/gu
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const EDGES = ' "\'`´‘’‚‛“”„‟«»‹›「」『』'

/** Where a text ends without these characters. A pattern would take quadratic time for many of them within. */
function endWithout(text: string, edges: string): number {
  let end = text.length
  while (end > 0 && edges.includes(text.charAt(end - 1))) end -= 1
  return end
}

function bare(text: string): string {
  let start = 0
  while (start < text.length && EDGES.includes(text.charAt(start))) start += 1
  return text.slice(start, Math.max(start, endWithout(text, EDGES)))
}

/** The digits of each script stand in tens, the zero first. */
function decimalDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String(code - zero)
}

/** An integer of at most so many digits is read as one: DuckDB's largest have as many. */
const MOST_DIGITS = 38

function wholeNumber(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  if (digits === '') return '0'
  const significant = digits.slice(0, endWithout(digits, '0'))
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length
  if (zeros < 0 || significant.length + zeros > MOST_DIGITS) return undefined
  return `${sign === '-' ? '-' : ''}${significant}${'0'.repeat(zeros)}`
}
