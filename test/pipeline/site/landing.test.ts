import { describe, expect, it } from 'vitest'
import type { CoverageDay } from '../../../pipeline/contract/history.ts'
import { html } from '../../../pipeline/contract/html.ts'
import { DATASET_PATH } from '../../../pipeline/contract/manifest.ts'
import { OTHER } from '../../../pipeline/contract/ranking.ts'
import { addDays } from '../../../pipeline/contract/utc-date.ts'
import { citation } from '../../../pipeline/release/documents/bibtex.ts'
import { renderAssets } from '../../../pipeline/site/assets.ts'
import type { SiteFacts } from '../../../pipeline/site/facts.ts'
import { landingPage } from '../../../pipeline/site/landing.ts'
import { modelPath } from '../../../pipeline/site/model-path.ts'
import { manyRows, rowsOf } from '../../support/rows.ts'
import { indexOf, releaseEntry, siteFacts } from '../../support/site.ts'

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
  it('says in words what the data is', () => {
    const text = plain(textOf(FACTS).split('<dl')[0] ?? '')
    expect(text).toContain(FACTS.dataset.publisher.title)
    expect(text).toContain(FACTS.dataset.publisher.description)
  })

  it('says how fresh it is: newest day, when published, what is final', () => {
    const text = plain(textOf(FACTS).split('class="key-facts"')[1]?.split('</dl>')[0] ?? '')
    expect(text).toContain('Newest day 2026-11-19 final until 2026-11-16, provisional from 2026-11-17')
    expect(text).toContain('as of 2026-11-20 00:12 UTC')
    expect(text).toContain('next expected 2026-11-21 01:00 UTC')
  })

  it.each([
    ['2026-11-20', 'all days are final'],
    ['2026-11-10', 'all days are provisional'],
    ['2026-11-09', 'all days are provisional'],
  ])('says what is final when the first provisional day is %s', (provisional_from, expected) => {
    expect(textOf(siteFacts(ROWS, { manifest: { provisional_from } }))).toContain(expected)
  })

  it('says how complete it is, and links to the calendar', () => {
    expect(textOf(FACTS)).toContain('<a href="coverage.html">3 of 10</a>')
    expect(textOf(siteFacts(manyRows(600, 2)))).toContain('<a href="coverage.html">600 of 600</a>')
    // A day before the first of this release, whose rows an earlier release had.
    const { coverage } = FACTS
    const start_date = addDays(coverage.start_date, -1)
    const removed = { ...coverage.days[1], date: start_date, status: 'missing' as const, reason: 'removed' as const }
    const days = [{ ...coverage.days[0], ...removed } as CoverageDay, ...coverage.days]
    const text = textOf({ ...FACTS, coverage: { ...coverage, start_date, days } })
    expect(text).toContain('<a href="coverage.html">3 of 11</a>')
    expect(text).toMatch(new RegExp(`since <time[^>]*datetime="${start_date}"`))
  })

  it('offers the files that most want', () => {
    const [, first] = /<a class="button strong" href="([^"]*)"/.exec(textOf(FACTS)) ?? []
    expect(first).toBe(`${FACTS.release}rankings-daily.parquet`)
  })
})

describe('the ranking', () => {
  it('has rank, model, exact tokens, share and change, and the rest last without a rank', () => {
    expect(table(FACTS, 'ranking')).toEqual([
      ['1', 'a/first', '150', '15.00 %', '', '+50.0 %'],
      ['2', 'c/born', '60', '6.00 %', '', 'new'],
      ['3', 'd/small:free', '40', '4.00 %', '', 'new'],
      ['', 'other (all models that are not named)', '750', '75.00 %', '', '+7,400.0 %'],
    ])
    expect(section(FACTS, 'ranking')).toContain('Named on 2026-11-12 and no longer: b/gone.')
  })

  it('links each model to its page, and the rest to none', () => {
    const text = textOf(FACTS)
    for (const slug of ['a/first', 'c/born', 'd/small:free', 'b/gone']) {
      expect(text).toContain(`<a href="${modelPath(slug)}">${slug}</a>`)
    }
    expect(text).not.toContain(modelPath(OTHER))
  })

  it('has shares that sum to all', () => {
    const cells = table(siteFacts(manyRows(8, 50)), 'ranking')
    expect(cells).toHaveLength(51)
    const sum = cells.reduce((total, [, , , share = '']) => total + Number.parseFloat(share), 0)
    expect(Math.abs(sum - 100)).toBeLessThan(51 * 0.005)
  })

  it('compares with nothing where the day a week before is missing', () => {
    const facts = siteFacts(ROWS.filter(({ date }) => date !== '2026-11-12'))
    expect(table(facts, 'ranking').map((row) => row.at(-1))).toEqual(['–', '–', '–', '–'])
    expect(section(facts, 'ranking')).not.toContain('no longer')
  })

  it('says whether the day is final', () => {
    expect(section(FACTS, 'ranking')).toContain('Tokens on 2026-11-19 (provisional)')
    const final = siteFacts(ROWS, { manifest: { provisional_from: '2026-11-20' } })
    expect(section(final, 'ranking')).toContain('Tokens on 2026-11-19 (final)')
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
  it('lists every file of data with its use, its size, its rows and its hash', () => {
    const rows = table(FACTS, 'download')
    expect(rows.map(([name]) => name)).toEqual(FACTS.dataset.files.map(({ path }) => path))
    expect(rows[0]).toEqual([
      'rankings-daily.parquet',
      FACTS.dataset.files[0]?.title,
      '1.0 kB',
      '35,000',
      '111111111111…',
    ])
    const text = textOf(FACTS)
    expect(text).toContain('<data value="1000" title="1,000 bytes">1.0 kB</data>')
    for (const { path, sha256 } of FACTS.dataset.files) {
      expect(text).toContain(`<a href="${FACTS.release}${path}" download>`)
      expect(text).toContain(`title="${sha256}"`)
    }
    expect(text).toContain(`<a href="${FACTS.release}SHA256SUMS">`)
    expect(text).toContain(`href="${DATASET_PATH}/latest.json"`)
  })

  it('has attribution and BibTeX to copy, whole, with buttons that a script has to show', () => {
    const text = textOf(FACTS)
    const copied = (id: string) => plain(new RegExp(`id="${id}">([^<]*)<`).exec(text)?.[1] ?? '')
    expect(copied('attribution')).toBe(FACTS.dataset.attribution)
    expect(copied('bibtex')).toBe(plain(citation(FACTS.dataset)).trim())
    for (const id of ['attribution', 'bibtex'])
      expect(text).toContain(`<button type="button" data-copy="${id}" hidden>`)
  })

  it('describes each column', () => {
    const rows = table(FACTS, 'columns')
    expect(rows.map(([name]) => name)).toEqual(['date', 'model_permaslug', 'total_tokens'])
    expect(rows.map(([, type]) => type)).toEqual(['DATE', 'VARCHAR', 'BIGINT'])
    for (const [index, { unit, example, json_type }] of FACTS.dataset.fields.entries()) {
      expect(rows[index]).toEqual(expect.arrayContaining([unit, example, json_type]))
    }
  })

  it('says every caveat and the method in the words of the metadata', () => {
    const words = (text: string) => plain(text.replaceAll('`', ' '))
    for (const { name, text } of FACTS.dataset.caveats) {
      expect(section(FACTS, 'caveats')).toContain(`${name} ${words(text)}`)
    }
    expect(section(FACTS, 'method')).toContain(words(FACTS.dataset.method))
    expect(section(FACTS, 'method')).toContain(FACTS.dataset.content_hash)
  })

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

describe('history and access', () => {
  const releases = Array.from({ length: 12 }, (_, index) => {
    const status = index === 11 ? ('current' as const) : index === 10 ? ('withdrawn' as const) : ('superseded' as const)
    return releaseEntry(`2026-11-${String(index + 1).padStart(2, '0')}`, { status })
  })

  it('tells of the ten newest releases, newest first, and links to all but the withdrawn', () => {
    const facts = siteFacts(ROWS, { index: indexOf(releases) })
    const markup = textOf(facts).split('id="history"')[1] ?? ''
    const rows = [...markup.matchAll(/<th scope="row">(.*?)<\/th>/g)].map(([, cell = '']) => cell)
    expect(rows.map((cell) => plain(cell).trim())).toEqual(
      releases
        .map(({ release }) => release)
        .reverse()
        .slice(0, 10),
    )
    expect(rows[0]).toBe(`<a href="${DATASET_PATH}/releases/20261113T001500Z/index.html">20261113T001500Z</a>`)
    expect(rows[1]).toBe('<s>20261112T001500Z</s>')
    expect(section(facts, 'history')).toContain('The newest of 12 releases.')
  })

  it('tells of the five newest restatements: when, what, how much, why', () => {
    const restatements = Array.from({ length: 7 }, (_, index) => {
      const difference = { rows_before: 51, rows_after: 51, tokens_before: '1000', tokens_after: '1058' }
      const days = index === 6 ? ['2026-10-01', '2026-10-09'] : ['2026-10-01']
      const release = `2026110${index}T001200Z`
      return {
        id: `restatement-${release}`,
        release,
        as_of: `2026-11-0${index}T00:12:00Z`,
        reason: index === 6 ? ('late_data' as const) : ('unspecified' as const),
        note: index === 6 ? 'A <region> was late.' : null,
        ...difference,
        dates: days.map((date) => ({ date, ...difference })),
      }
    })
    const text = section(siteFacts(ROWS, { restatements }), 'history')
    expect(text).toContain(
      '2026-11-06: 2 days from 2026-10-01 to 2026-10-09, +5.8 % tokens. Reason: logs that came late. A <region> was late.',
    )
    expect(text).toContain('2026-11-05: 2026-10-01, +5.8 % tokens.')
    expect(text).toContain('2026-11-02:')
    expect(text).not.toContain('2026-11-01:')
    expect(text).not.toContain('unspecified')
  })

  it('says so where nothing was ever restated', () => {
    expect(section(FACTS, 'history')).toContain('No number that was final has ever been changed.')
  })

  it('points programs to the API, the feeds, the catalogue and the embeddings models', () => {
    const text = textOf(FACTS).split('id="api"')[1] ?? ''
    for (const path of [
      'api/v1/datasets/rankings-daily.json',
      'feed.atom',
      'feed.json',
      'catalog.json',
      'llms.txt',
      'api/v1/embeddings/models.json',
    ]) {
      expect(text).toContain(`<a href="${path}">`)
    }
    expect(plain(text)).toContain('GET /api/v1/datasets/rankings-daily?start_date=2026-11-10&end_date=2026-11-19')
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
