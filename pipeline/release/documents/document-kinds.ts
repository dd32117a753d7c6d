interface DocumentKind {
  media_type: string
  /** What it is, for people. */
  title: string
}

/** The documents that describe a release, in manifest order. */
export const DOCUMENT_KINDS = {
  'datapackage.json': kind('application/json', 'The files and their columns for Frictionless'),
  'croissant.json': kind('application/ld+json', 'The files and their columns for machine learning, as Croissant'),
  'dcat.jsonld': kind('application/ld+json', 'The release for data catalogues, as DCAT'),
  'CITATION.cff': kind('application/yaml; charset=utf-8', 'How to cite it, for GitHub and other programs'),
  'citation.bib': kind('application/x-bibtex; charset=utf-8', 'How to cite it, for BibTeX'),
  'README.md': kind('text/markdown; charset=utf-8', 'The same as this page, for people who have only the folder'),
  LICENSE: kind('text/plain; charset=utf-8', 'The license of the data'),
} as const

export type DocumentPath = keyof typeof DOCUMENT_KINDS

/** The formats in which a release can be cited, and the files that have them. */
export const CITATION_FORMATS = {
  BibTeX: 'citation.bib',
  CFF: 'CITATION.cff',
} as const satisfies Record<string, DocumentPath>

/** These files in words, with backquotes around their names. */
export const CITATION_FILES = Object.entries(CITATION_FORMATS)
  .map(([format, path]) => `\`${path}\` (${format})`)
  .join(', ')

/** What the document at a path of a release is. Undefined for other files. */
export function documentKind(path: string): DocumentKind | undefined {
  return Object.hasOwn(DOCUMENT_KINDS, path) ? DOCUMENT_KINDS[path as DocumentPath] : undefined
}

function kind(media_type: string, title: string): DocumentKind {
  return { media_type, title }
}
