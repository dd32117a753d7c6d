import { type Html, html } from '../contract/html.ts'
import type { Manifest } from '../contract/manifest.ts'
import { siteUrl } from '../contract/site-url.ts'
import { SYNTHETIC_NOTICE } from '../release/documents/describe.ts'
import { hasOwnUrl } from '../release/publisher.ts'
import { CARD, CARD_SIZE } from './assets.ts'
import { hasWeek } from './leaderboard-period.ts'

export interface Page {
  path: string
  text: string
  /** A hash of all that the text is made from. A page without one is rendered by every build. */
  key?: string
}

export interface PageContent {
  path: string
  /** What links begin with. A page that is sent in place of others needs an absolute one. */
  root?: string
  title: string
  description: string
  head?: Html
  main: Html
}

export type Masthead = Pick<Manifest, 'publisher' | 'synthetic' | 'license' | 'tables' | 'end_date'>

/** A complete document. All links are relative, so any host will do. */
export function renderPage(content: PageContent, masthead: Masthead): Page {
  const { path, main, root = rootFrom(path) } = content
  const { publisher, synthetic, license } = masthead
  const body = html`<a class="skip" href="#main">Skip to the content</a>
${synthetic ? html`<aside class="banner" aria-label="What this data is">${SYNTHETIC_NOTICE}</aside>\n` : html``}<header class="masthead">
<a class="brand" href="${root}index.html">${publisher.name}</a>
<nav aria-label="Pages">
${pagesOf(masthead).map(({ href, name }) => html`<a href="${root}${href}"${current(path, href)}>${name}</a>\n`)}</nav>
</header>
<main id="main" tabindex="-1">
${main}</main>
<footer>
<p>License: <a href="${license.path}" rel="license">${license.title}</a>. Source: ${publisher.name} (${publisher.url}). <a href="${root}index.html#cite">How to cite</a></p>
<p>Published by <a href="${publisher.url}">${publisher.name}</a> (${publisher.contact}). Feeds: <a href="${root}feed.atom">Atom</a>, <a href="${root}feed.json">JSON</a>.</p>
</footer>
`
  return { path, text: htmlDocument(headOf(content, masthead), body).text }
}

/** What every page of the site begins with: it loads nothing from other hosts. */
export function htmlDocument(head: Html, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'">
<meta name="color-scheme" content="light dark">
${head}</head>
<body>
${body}</body>
</html>
`
}

/** The canonical URL is the publisher's, even in copies. */
function headOf(content: PageContent, masthead: Masthead): Html {
  const { path, title, description, head, root = rootFrom(path) } = content
  const { publisher } = masthead
  const address = siteUrl(publisher, path.replace(/(^|\/)index\.html$/, '$1'))
  const whole = title === publisher.title ? title : `${title} · ${publisher.title}`
  return html`<title>${whole}</title>
<meta name="description" content="${description}">
<link rel="canonical" href="${address}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${publisher.name}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${address}">
${cardTags(masthead)}<link rel="icon" type="image/svg+xml" href="${root}assets/icon.svg">
<link rel="stylesheet" href="${root}assets/site.css">
<link rel="alternate" type="application/atom+xml" title="${publisher.title}" href="${root}feed.atom">
<link rel="alternate" type="application/feed+json" title="${publisher.title}" href="${root}feed.json">
${head ?? html``}`
}

/** Services take whole addresses alone, so there is no card without an address of the publisher. */
function cardTags({ publisher }: Masthead): Html {
  if (!hasOwnUrl(publisher)) return html`<meta name="twitter:card" content="summary">\n`
  return html`<meta property="og:image" content="${siteUrl(publisher, CARD.path)}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="${CARD_SIZE.width}">
<meta property="og:image:height" content="${CARD_SIZE.height}">
<meta property="og:image:alt" content="${publisher.title}, published by ${publisher.name}">
<meta name="twitter:card" content="summary_large_image">
`
}

function pagesOf(masthead: Masthead): { href: string; name: string }[] {
  return [
    { href: 'index.html', name: 'Overview' },
    { href: `leaderboards/${hasWeek(masthead) ? 'week' : 'all'}.html`, name: 'Leaderboards' },
    { href: 'explore.html', name: 'Explore' },
    { href: 'models.html', name: 'Models' },
    { href: 'coverage.html', name: 'Coverage' },
    { href: 'changelog.html', name: 'Changelog' },
  ]
}

/** All leaderboards are behind one link. */
function current(path: string, href: string): Html {
  if (path === href) return html` aria-current="page"`
  const [folder] = href.split('/')
  return path.startsWith(`${folder}/`) ? html` aria-current="true"` : html``
}

/** A page whose text is rendered when it is first asked for. */
export function lazyPage(path: string, key: string, render: () => Page): Page {
  let rendered: string | undefined
  return {
    path,
    key,
    get text() {
      rendered ??= render().text
      return rendered
    },
  }
}

/** The path from a page up to the public folder: empty or a number of `../`. */
export function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 1)
}
