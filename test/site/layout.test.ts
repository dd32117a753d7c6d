import { describe, expect, it } from 'vitest'
import { html } from '../../pipeline/contract/html.ts'
import { renderPage, rootFrom } from '../../pipeline/site/layout.ts'
import { notFoundPage } from '../../pipeline/site/not-found.ts'
import { manifestOf, PUBLISHER } from '../support/manifest.ts'

function page(path: string, masthead = manifestOf()): string {
  const content = { title: 'A page', description: 'What it says.', main: html`<h1>A page</h1>\n` }
  return renderPage({ path, ...content }, masthead).text
}

describe('renderPage', () => {
  it('links to everything by relative paths, however deep the page is', () => {
    expect(rootFrom('index.html')).toBe('')
    expect(rootFrom('models/openai/gpt-4o.html')).toBe('../../')
    const text = page('models/openai/gpt-4o.html')
    expect(text).toContain('<link rel="stylesheet" href="../../assets/site.css">')
    expect(text).toContain(`<meta http-equiv="Content-Security-Policy" content="default-src 'self'">`)
    const local = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link)
    expect(local.filter((link) => link.startsWith('/'))).toEqual([])
    const remote = local.filter((link) => link.includes('://'))
    // Nothing is loaded from these: they are links to follow and the address for search engines.
    expect(new Set(remote)).toEqual(
      new Set([
        'https://data.acme.example',
        'https://data.acme.example/models/openai/gpt-4o.html',
        'https://creativecommons.org/licenses/by/4.0/',
      ]),
    )
  })

  it('links from the path of the publisher on the page for addresses that are not there', () => {
    const publisher = { ...PUBLISHER, url: 'https://example.org/data' }
    const { path, text } = notFoundPage(manifestOf({ publisher }))
    expect(path).toBe('404.html')
    const local = [...text.matchAll(/(?:href|src|action)="([^"#]+)"/g)].map(([, link = '']) => link)
    expect(local.filter((link) => !link.startsWith('/data/') && !link.startsWith('https://'))).toEqual([])
    expect(local).toContain('/data/assets/site.css')
    expect(text).toContain('<form class="search" role="search" action="/data/models.html" method="get">')
    expect(text).toContain('<!-- nearest -->')
    expect(text).toContain('<meta name="robots" content="noindex">')
  })

  it('has landmarks, a link past the header, one first heading, and its own page marked in the navigation', () => {
    const text = page('models.html')
    for (const tag of ['header', 'main', 'footer', 'h1']) {
      expect([...text.matchAll(new RegExp(`<${tag}\\b`, 'g'))], tag).toHaveLength(1)
    }
    expect(text).toContain('<html lang="en">')
    expect(text.indexOf('<a class="skip" href="#main">')).toBeLessThan(text.indexOf('<header'))
    expect(text).toContain('<main id="main" tabindex="-1">')
    expect(text).toContain('<a href="models.html" aria-current="page">Models</a>')
    expect(text.match(/aria-current/g)).toHaveLength(1)
    expect(page('models/a.html')).not.toContain('aria-current')
  })

  it('links to the leaderboard of the week if the release ranks a week that is over, and else to that of all time', () => {
    const weekly = { start_date: '2026-11-16', end_date: '2026-11-16', rows: 1, content_hash: '' }
    const { tables } = manifestOf()
    const young = tables && { ...tables, weekly }
    const cases: [Parameters<typeof manifestOf>[0], string][] = [
      [{}, 'week'],
      [{ tables: young, end_date: '2026-11-22' }, 'week'],
      [{ tables: young, end_date: '2026-11-21' }, 'all'],
      [{ tables: undefined }, 'all'],
    ]
    for (const [changes, name] of cases) {
      expect(page('index.html', manifestOf(changes))).toContain(`<a href="leaderboards/${name}.html">Leaderboards</a>`)
    }
    expect(page('leaderboards/day.html')).toContain('<a href="../leaderboards/week.html" aria-current="true">')
  })

  it('has its address at the publisher for search engines and previews, without index.html', () => {
    const publisher = { ...PUBLISHER, url: 'https://example.org/data' }
    const address = (path: string) => /rel="canonical" href="([^"]*)"/.exec(page(path, manifestOf({ publisher })))?.[1]
    expect(address('index.html')).toBe('https://example.org/data/')
    expect(address('models.html')).toBe('https://example.org/data/models.html')
    expect(address('releases/x/index.html')).toBe('https://example.org/data/releases/x/')
    expect(address('my-index.html')).toBe('https://example.org/data/my-index.html')
    expect(page('models.html')).toContain('<meta property="og:url" content="https://data.acme.example/models.html">')
    expect(page('models.html')).toContain('<meta property="og:title" content="A page">')
    expect(page('models.html')).toContain('<title>A page · Tokens per model</title>')
  })

  it('begins with a warning only if the data is synthetic', () => {
    const text = page('models.html', manifestOf({ synthetic: true }))
    expect(text).toMatch(
      /<aside class="banner" aria-label="What this data is">SYNTHETIC SAMPLE DATA[^<]*<\/aside>\n<header/,
    )
    expect(page('models.html')).not.toMatch(/synthetic/i)
  })

  it('names the source and the license, and no release: a new one would change all pages', () => {
    const text = page('models.html')
    expect(text).toContain(`Source: ${PUBLISHER.name} (${PUBLISHER.url}).`)
    expect(text).toContain('rel="license"')
    const later = { as_of: '2030-01-01T00:00:00Z', release: '20300101T000000Z', end_date: '2029-12-31' }
    expect(page('models.html', manifestOf(later))).toBe(text)
  })
})
