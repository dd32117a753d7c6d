import { type Citation, citationOf } from './citation.ts'
import type { DatasetDescription } from './describe.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `citation.bib`: an entry of BibLaTeX's type `dataset`. It names the release, so that readers find the same numbers. */
export function renderBibtex(dataset: DatasetDescription): string {
  const citation = citationOf(dataset)
  const fields = Object.entries(fieldsOf(citation)).map(([name, value]) => `  ${name} = ${value}`)
  return `@dataset{${citation.key},\n${fields.join(',\n')}\n}\n`
}

function fieldsOf({ author, title, year, month, version, doi, url, note }: Citation): Record<string, string> {
  return {
    author: `{{${latex(author)}}}`,
    title: `{{${latex(title)}}}`,
    year: `{${year}}`,
    month: MONTHS[Number(month) - 1] ?? '',
    publisher: `{{${latex(author)}}}`,
    version: `{${version}}`,
    ...(doi !== undefined && { doi: `{${verbatim(doi)}}` }),
    url: `{${verbatim(url)}}`,
    note: `{${latex(note)}}`,
  }
}

/** Addresses are read as they are, without commands. */
function verbatim(address: string): string {
  return address.replaceAll(/[{}\\]/g, encodeURIComponent)
}

/** Braces are commands, because BibTeX counts braces even behind a backslash. */
const SPECIAL: Record<string, string> = {
  '{': '\\textbraceleft{}',
  '}': '\\textbraceright{}',
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '`': '\\textasciigrave{}',
}

function latex(text: string): string {
  return text.replaceAll(/[\\~^`{}&%$#_]/g, (character) => SPECIAL[character] ?? `\\${character}`)
}
