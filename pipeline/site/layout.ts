import type { Manifest } from '../contract/manifest.ts'
import { SYNTHETIC_NOTICE } from '../metadata/describe.ts'
import { type Html, html } from './html.ts'

/** A file of the public folder, by its path below it. */
export interface Page {
  path: string
  text: string
}

/** What differs between pages. */
export interface PageContent {
  /** Where the page lies below the public folder: it decides how the page reaches the others. */
  path: string
  title: string
  /** For search engines and previews: one plain sentence. */
  description: string
  /** Further elements of the head, such as scripts. */
  head?: Html
  main: Html
}

/** What every page tells of whose it is. */
export type Masthead = Pick<Manifest, 'publisher' | 'synthetic' | 'license' | 'attribution'>

/** A whole document: what all pages share around what is the page's own. All links are relative, so any host will do. */
export function renderPage({ path, title, description, head, main }: PageContent, masthead: Masthead): Page {
  const root = rootFrom(path)
  const { publisher, synthetic, license, attribution } = masthead
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="stylesheet" href="${root}assets/site.css">
<link rel="alternate" type="application/atom+xml" title="${publisher.title}" href="${root}feed.atom">
${head ?? html``}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${synthetic ? html`<p class="banner" role="note">${SYNTHETIC_NOTICE}</p>\n` : html``}<header>
<nav aria-label="Pages">
${PAGES.map(({ href, name }) => html`<a href="${root}${href}"${current(path, href)}>${name}</a>\n`)}</nav>
</header>
<main id="main">
${main}</main>
<footer>
<p>Licence: <a href="${license.path}">${license.title}</a>. ${attribution}</p>
</footer>
</body>
</html>
`
  return { path, text: text.text }
}

const PAGES = [
  { href: 'index.html', name: 'Overview' },
  { href: 'explore.html', name: 'Explore' },
  { href: 'models.html', name: 'Models' },
  { href: 'coverage.html', name: 'Coverage' },
  { href: 'changelog.html', name: 'Changelog' },
]

function current(path: string, href: string): Html {
  return path === href ? html` aria-current="page"` : html``
}

/** The way from a page up to the public folder: empty, or `../` as often as it lies deep. */
export function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 1)
}
