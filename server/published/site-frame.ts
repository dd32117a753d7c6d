import { join } from 'node:path'
import { type Html, html } from '../../pipeline/contract/html.ts'
import { NOT_FOUND_PATH } from '../../pipeline/contract/published-paths.ts'
import { readWhenReplaced } from '../base/json-file.ts'

/** A page that the server makes. */
export interface OwnPage {
  title: string
  main: Html
}

/**
 * The masthead, stylesheet and footer of the published site, taken from its `404.html`. `root` is what links begin with.
 */
export interface SiteFrame {
  /** Changes with the frame. */
  stamp: string
  wrap(page: OwnPage, root: string): string
  /** The published page itself; undefined if nothing is published. */
  notFound(root: string): string | undefined
}

const BARE: SiteFrame = { stamp: 'bare', wrap: barePage, notFound: () => undefined }

/** Returns the frame as it is published now. */
export function siteFrame(publicDir: string): () => Promise<SiteFrame> {
  const published = readWhenReplaced(join(publicDir, NOT_FOUND_PATH), (bytes, stamp) =>
    frameOf(bytes.toString(), stamp),
  )
  return async () => (await published()) ?? BARE
}

function frameOf(text: string, stamp: string): SiteFrame {
  const [, published = '/'] = /<link rel="stylesheet" href="([^"]*)assets\//.exec(text) ?? []
  const notFound = (root: string) => text.replaceAll(`="${published}`, `="${root}`)
  return { stamp, notFound, wrap: (page, root) => withContent(notFound(root), page) }
}

/** What the head says of the page that is published. */
const OF_THE_PAGE =
  /<(meta name="(description|robots)"|meta (property="og:|name="twitter:)|link rel="canonical")[^>]*>\n/g

function withContent(text: string, { title, main }: OwnPage): string {
  return text
    .replaceAll(OF_THE_PAGE, '')
    .replace(/<title>.*?<\/title>/s, () => html`<title>${title}</title>`.text)
    .replace(/(<main\b[^>]*>).*<\/main>/s, (_, begin: string) => `${begin}\n${main.text}</main>`)
}

function barePage({ title, main }: OwnPage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body>
<main id="main" tabindex="-1">
${main}</main>
</body>
</html>
`.text
}
