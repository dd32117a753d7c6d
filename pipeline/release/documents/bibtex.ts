import { type DatasetDescription, SYNTHETIC_NOTICE } from './describe.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `citation.bib`. It names the release, so that readers find the same numbers. */
export function citation(dataset: DatasetDescription): string {
  const { publisher, release, as_of, data_version, license, content_hash, synthetic } = dataset
  const notes = [
    `Data set, release ${release}, data version ${data_version}, as of ${as_of}, ${license.name}, ${content_hash}`,
    ...(synthetic ? [SYNTHETIC_NOTICE] : []),
  ]
  return `@misc{${key(publisher.name)}_rankings_daily_${release},
  author = {{${latex(publisher.name)}}},
  title = {{${latex(dataset.title)}}},
  year = {${as_of.slice(0, 4)}},
  month = ${MONTHS[Number(as_of.slice(5, 7)) - 1]},
  version = {${release}},
  url = {${publisher.url.replaceAll(/[{}\\]/g, encodeURIComponent)}},
  note = {${latex(notes.join('. '))}}
}
`
}

function key(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '')
  return plain === '' ? 'publisher' : plain
}

const SPECIAL: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '`': '\\textasciigrave{}',
}

function latex(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\~^`{}&%$#_]/g, (character) => SPECIAL[character] ?? `\\${character}`)
}
