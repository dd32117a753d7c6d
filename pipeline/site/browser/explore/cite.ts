import { escapeHtml } from '../../../contract/html.ts'
import { byId } from './dom.ts'
import { type Shown, titleOf } from './frame.ts'
import type { Source } from './source.ts'
import type { View } from './view.ts'
import { toQuery } from './view-url.ts'

/** Pixels of the frames to embed. */
const SIZES = { small: [420, 340], medium: [720, 460], large: [1000, 600] } as const

/** A link that shows the same numbers for good: it names the release and the dates. */
export function pinnedUrl(view: View, { release }: Pick<Source, 'release'>, page = 'explore.html'): string {
  const url = new URL(page, document.baseURI)
  url.search = toQuery({ ...view, release })
  return url.href
}

/** How to cite what is shown, and a frame to embed it. */
export function cite(source: Source): { show(shown: Shown): void } {
  const panel = byId('cite', HTMLDetailsElement)
  let shown: Shown | undefined
  panel.addEventListener('toggle', fill)

  async function fill(): Promise<void> {
    if (!panel.open || shown === undefined) return
    const now = shown
    const view: View = { ...now.view, window: now.window, by: now.grain, search: '', page: 1, order: undefined }
    const url = pinnedUrl(view, source)
    const title = titleOf(now)
    put(
      'cite-text',
      `${source.credit} ${source.title}: ${title}. Release ${source.release}, ${source.cited_at}. Chart: ${url}`,
    )
    put('cite-link', url)
    for (const [size, [width, height]] of Object.entries(SIZES)) {
      const address = escapeHtml(pinnedUrl(view, source, 'embed.html'))
      put(
        `cite-embed-${size}`,
        `<iframe src="${address}" title="${escapeHtml(title)}" width="${width}" height="${height}" loading="lazy" style="border:0;max-width:100%"></iframe>`,
      )
    }
    put('cite-bibtex', await bibtex(source, title, url))
  }

  return {
    show(next) {
      shown = next
      void fill()
    },
  }
}

function put(id: string, text: string): void {
  byId(id, HTMLElement).textContent = text
}

/** The citation of the release, with the view in its title and the address of the chart. */
async function bibtex({ folder, isCurrent }: Source, title: string, url: string): Promise<string> {
  const path = `${isCurrent ? '' : folder}citation.bib`
  const answer = await fetch(path).catch(() => undefined)
  if (answer?.ok !== true) return `${path} could not be read. The link above names the release.`
  const text = await answer.text()
  return text
    .replace(/( title = \{\{)(.*)(\}\},)/, (_, head, name, tail) => `${head}${name}: ${title}${tail}`)
    .replace(
      '  url = ',
      () => `  howpublished = {Chart: \\url{${url.replaceAll(/[{}\\]/g, encodeURIComponent)}}},\n  url = `,
    )
}
