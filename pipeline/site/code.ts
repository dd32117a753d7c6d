import { readFileSync } from 'node:fs'
import { type Html, html } from '../contract/html.ts'
import { copyable, folded } from './elements.ts'
import type { SiteFacts } from './facts.ts'

/** Placeholder base URL; occurs once per snippet, on a line of its own. */
export const SNIPPET_BASE = 'https://tokenboard.example/'

/** Code that reads the dataset, most used first. Each is a runnable file of `snippets/`. */
export const SNIPPETS = [
  { file: 'pandas.py', name: 'Python, pandas' },
  { file: 'polars.py', name: 'Python, polars' },
  { file: 'duckdb.py', name: 'Python, DuckDB' },
  { file: 'tokens.R', name: 'R' },
  { file: 'tokens.sql', name: 'SQL, DuckDB' },
  { file: 'tokens.mjs', name: 'JavaScript' },
  { file: 'download.sh', name: 'Shell, curl' },
  { file: 'excel.pq', name: 'Excel, Power Query' },
] as const
export type Snippet = (typeof SNIPPETS)[number]['file']

/** The text of a snippet for files at `base`, a URL or a folder. */
export function snippetText(file: Snippet, base: string): string {
  const text = readFileSync(new URL(`./snippets/${file}`, import.meta.url), 'utf8')
  const folder = base.endsWith('/') ? base : `${base}/`
  return text.replace(SNIPPET_BASE, () => quotable(folder))
}

/** Escapes characters that could end a string or start a command in any of the languages. */
function quotable(address: string): string {
  return address.replaceAll(/['"`$\\\s]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The code section, for files at the publisher's URL. One snippet is open at a time. */
export function codeSection({ manifest }: SiteFacts): Html {
  const pieces = SNIPPETS.map(({ file, name }, position) => {
    const text = snippetText(file, manifest.publisher.url).trimEnd()
    return html`<details name="code"${position === 0 ? html` open` : html``}>
<summary>${name}</summary>
${copyable(`code-${position}`, `the code for ${name}`, text)}</details>
`
  })
  return html`<section aria-labelledby="code">
<h2 id="code">Code</h2>
${folded(
  'Python, R, SQL, JavaScript, shell and Excel',
  html`<p>Each of these reads the newest release. All but the last two find the ten models with the most tokens in its last seven days.</p>
${pieces}`,
)}</section>
`
}
