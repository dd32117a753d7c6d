import { describe, expect, it } from 'vitest'
import { html } from '../../pipeline/contract/html.ts'
import { OTHER } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { renderAssets } from '../../pipeline/site/assets.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
import { landingPage } from '../../pipeline/site/landing.ts'
import { manyRows, rowsOf } from '../support/rows.ts'
import { indexOf, releaseEntry, siteFacts } from '../support/site.ts'

const ROWS = rowsOf([
  ['2026-11-10', { 'a/first': 4, 'b/gone': 3 }],
  ['2026-11-12', { 'a/first': 100, 'b/gone': 50, [OTHER]: 10 }],
  ['2026-11-19', { 'a/first': 150, 'c/born': 60, 'd/small:free': 40, [OTHER]: 750 }],
])

const FACTS = siteFacts(ROWS)

const textOf = (facts: SiteFacts) => landingPage(facts).text

/** The text of a section, by its heading's id: tags gone, blanks folded. */
function section(facts: SiteFacts, id: string): string {
  return plain(textOf(facts).split(`id="${id}"`)[1]?.split('<h2')[0] ?? '')
}

function plain(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,.;:])/g, '$1')
}

/** The rows of the first table after a heading, as the texts of their cells. */
function table(facts: SiteFacts, id: string): string[][] {
  const markup = textOf(facts).split(`id="${id}"`)[1]?.split('<tbody>')[1]?.split('</tbody>')[0] ?? ''
  return [...markup.matchAll(/<tr[^>]*>(.*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) => plain(cell).trim()),
  )
}

describe('the head of the landing page', () => {
  it.each([
    ['2026-11-20', 'all days are final'],
    ['2026-11-10', 'all days are provisional'],
    ['2026-11-09', 'all days are provisional'],
  ])('says what is final when the first provisional day is %s', (provisional_from, expected) => {
    expect(textOf(siteFacts(ROWS, { manifest: { provisional_from } }))).toContain(expected)
  })
})

describe('the ranking', () => {
  it('has shares that sum to all', () => {
    const cells = table(siteFacts(manyRows(8, 50)), 'ranking')
    expect(cells).toHaveLength(51)
    const sum = cells.reduce((total, [, , , share = '']) => total + Number.parseFloat(share), 0)
    expect(Math.abs(sum - 100)).toBeLessThan(51 * 0.005)
  })
})

describe('the recent days', () => {
  it('are a chart, and the same in numbers', () => {
    const facts = siteFacts(manyRows(90, 12))
    const text = textOf(facts)
    expect(text).toContain('aria-labelledby="recent-chart-title recent-chart-desc"')
    const rows = table(facts, 'recent')
    expect(rows).toHaveLength(11)
    const whole = facts.rows.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n)
    const sums = rows.map((row) => BigInt(row[4]?.replaceAll(',', '') ?? 0))
    expect(sums.reduce((total, sum) => total + sum, 0n)).toBe(whole)
    for (const [, ...cells] of rows) {
      const numbers = cells.slice(0, 4).map((cell) => BigInt(cell.replaceAll(',', '')))
      expect(numbers.slice(0, 3).reduce((total, number) => total + number, 0n)).toBe(numbers[3])
    }
  })

  it('are as many as there are', () => {
    expect(section(FACTS, 'recent')).toContain('The last 10 days')
    expect(textOf(siteFacts(manyRows(1, 3)))).toContain('>The last day<')
  })
})

describe('downloads, licence, columns, caveats, method', () => {
  it('links to the evidence that the release has, and to no other', () => {
    const link = (name: string) => `href="${FACTS.release}${name}"`
    expect(textOf(FACTS)).toContain(link('manifest.json'))
    expect(textOf(FACTS)).toContain(link('quality.json'))
    expect(textOf(FACTS)).not.toContain(link('provenance.json'))
    const files = [
      ...FACTS.manifest.files,
      { path: 'provenance.json', media_type: 'a/b', bytes: 1, sha256: '9'.repeat(64) },
    ]
    expect(textOf(siteFacts(ROWS, { manifest: { files } }))).toContain(link('provenance.json'))
  })
})

describe('the landing page as a document', () => {
  it('is found by search engines for datasets', () => {
    const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(textOf(FACTS)) ?? []
    expect(JSON.parse(json)).toMatchObject({ '@type': 'Dataset', name: FACTS.dataset.title })
  })

  it('shows names as they are, whatever they hold', () => {
    const hostile = [
      `'; DROP TABLE x; --`,
      '</script><script>alert(1)</script>',
      '"onload="x',
      '🦜&amp;',
      'x'.repeat(300),
    ]
    const tokens = Object.fromEntries(hostile.map((name, index) => [name, 10 - index]))
    const facts = siteFacts(
      rowsOf([
        ['2026-11-12', tokens],
        ['2026-11-19', tokens],
      ]),
    )
    const text = textOf(facts)
    expect(table(facts, 'ranking').map(([, name]) => name)).toEqual(hostile)
    expect([...text.matchAll(/<script/g)]).toHaveLength(1)
    expect(text).not.toMatch(/"onload=/)
    const opened = [...text.matchAll(/<a\b/g)].length
    expect([...text.matchAll(/<\/a>/g)]).toHaveLength(opened)
  })

  it('has a heading for each place of its contents, once, in order and without a level left out', () => {
    const text = textOf(FACTS)
    const targets = [...text.matchAll(/<li><a href="#(\w+)">/g)].map(([, id]) => id)
    const headings = [...text.matchAll(/<h2 id="(\w+)">/g)].map(([, id]) => id)
    expect(targets.length).toBeGreaterThan(8)
    expect(targets).toEqual(headings)
    const levels = [...text.matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1)
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has captions and scopes on all tables, which scroll by keyboard under names of their own', () => {
    const text = textOf(FACTS)
    const tables = [...text.matchAll(/<table/g)].length
    expect([...text.matchAll(/<caption>/g)]).toHaveLength(tables)
    expect(text).not.toMatch(/<th(?! scope)[ >]/)
    const names = [...text.matchAll(/role="region" aria-label="([^"]*)"/g)].map(([, name]) => name)
    expect(new Set(names).size).toBe(names.length)
    expect([...text.matchAll(/<div class="scroll" role="region" aria-label="[^"]*" tabindex="0">/g)]).toHaveLength(
      tables,
    )
  })

  it('takes in code and script where others give them, and has no place for them otherwise', () => {
    const code = html`<section><h2 id="code">Code</h2></section>\n`
    const { text } = landingPage(FACTS, { copyScript: 'assets/copy-0123abcd.js', code })
    expect(text).toContain('<script type="module" src="assets/copy-0123abcd.js"></script>')
    expect(text).toContain('<li><a href="#code">Code</a></li>')
    expect(text.indexOf('id="cite"')).toBeLessThan(text.indexOf('id="code"'))
    expect(textOf(FACTS)).not.toMatch(/#code|type="module"/)
  })

  it('has equal bytes for equal facts', () => {
    expect(textOf(siteFacts(manyRows(90, 50)))).toBe(textOf(structuredClone(siteFacts(manyRows(90, 50)))))
  })

  it('weighs less than 100 KB with its styles, for 90 days of 51 rows and ten releases', () => {
    const index = indexOf(Array.from({ length: 30 }, (_, day) => releaseEntry(addDays('2026-10-01', day))))
    const page = textOf(siteFacts(manyRows(700, 50), { index }))
    const whole = Buffer.byteLength(page) + renderAssets().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    expect(whole).toBeLessThan(85_000)
  })
})
