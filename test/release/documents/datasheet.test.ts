/** What the datasheet of a release says, and what it says to be missing. */
import { describe, expect, it } from 'vitest'
import type { DisclosureFile } from '../../../pipeline/contract/disclosure-file.ts'
import { DatasheetAnswers, type Manifest } from '../../../pipeline/contract/manifest.ts'
import { type DatasheetEvidence, renderDatasheet } from '../../../pipeline/release/documents/datasheet.ts'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { renderReadme } from '../../../pipeline/release/documents/readme.ts'
import { datasheetPage } from '../../../pipeline/site/datasheet-page.ts'
import { manifestOf, PUBLISHER } from '../../support/manifest.ts'
import { faultsOf, rankingRow, siteFacts, tableRows, textOf } from '../../support/site.ts'

const KEYS = Object.keys(DatasheetAnswers.shape) as (keyof DatasheetAnswers)[]
const ANSWERS: DatasheetAnswers = Object.fromEntries(KEYS.map((key) => [key, `Our answer on ${key}.\n# <b>${key}</b>`]))

const RULE = { min_contributors: 5, p_percent: 10, publish_after_days: 3, revise: 'never' as const }
const STATED = { rule: RULE, since: '2025-01-01', protects: ['customers' as const], exempt: [] }
const RULED: Manifest = manifestOf({ disclosure: STATED })
const DISCLOSURE: DisclosureFile = {
  ...{ dataset: 'rankings-daily', release: RULED.release, as_of: RULED.as_of, synthetic: false, ...STATED },
  periods: [{ start_date: '2025-01-01', end_date: '2026-11-19', rule: RULE }],
  joined_cells: '100 to 999',
  dates_not_published: 'fewer than 10',
}
const EXACT = { published: 997_000, duplicates: 2000, left_out: 0, rejected: { invalid_timestamp: 1000 } }
const BANDED = { published: '100000 to 999999', withheld: '10 to 99', rejected: { invalid_timestamp: '100 to 999' } }

function sheet(manifest: Manifest, evidence: DatasheetEvidence = {}): string {
  return renderDatasheet(describeDataset(manifest), evidence)
}

/** What is below a question. */
function answerTo(question: string, text: string): string {
  return text.split(`### ${question}\n`)[1]?.split('\n#')[0]?.trim() ?? ''
}

describe('the datasheet', () => {
  it('says of each answer that the publisher has not given that it is missing, and invents none', () => {
    const text = sheet(manifestOf())
    expect([...text.matchAll(/^The publisher has not said (?!whether a rule)/gm)]).toHaveLength(KEYS.length)
    expect(text).not.toMatch(/^> /m)
    expect(answerTo('Who takes it over if the publisher stops?', text)).toBe(
      'The publisher has not said who takes the dataset over if they stop.',
    )
  })

  it('quotes each answer that the publisher has given, and no heading of theirs is one of the page', () => {
    const text = sheet(manifestOf({ publisher: { ...PUBLISHER, datasheet: ANSWERS } }))
    for (const key of KEYS) expect(text).toContain(`\n> Our answer on ${key}.\n> # <b>${key}</b>\n`)
    expect(text.replace(/has not said whether a rule/, '')).not.toContain('has not said')
  })

  it.each([renderDatasheet, renderReadme])('has no heading from the words of the publisher: %o', (render) => {
    const trap = (text: string) => `\n# ${text}\r\n\n## Motivation\n`
    const { name, title, contact, description } = PUBLISHER
    const publisher = { ...PUBLISHER, name: trap(name), title: trap(title), contact: trap(contact) }
    const manifest = manifestOf({ publisher: { ...publisher, description: trap(description) } })
    const trapped = render({ ...describeDataset(manifest), attribution: trap('Acme') }, {})
    const headings = (text: string) => text.split(/[\r\n]+/).filter((line) => line.startsWith('#'))
    expect(headings(trapped).slice(1)).toEqual(headings(render(describeDataset(manifestOf()), {})).slice(1))
  })

  it('has exact counts with shares without a rule, and does not say how much is withheld', () => {
    const text = sheet(manifestOf({ disclosure: 'none' }), { records: EXACT })
    expect(answerTo('Which records are not in the numbers?', text)).toContain(
      '| counted | 997,000 (99.70 %) |\n| delivered again, counted once | 2,000 (0.20 %) |\n',
    )
    expect(text).toContain('rejected: invalid timestamp | 1,000 (0.10 %)')
    expect(text).toContain('Shares are of the records in this table.')
    expect(text).toContain('How much that is, and how much is private, is not published.')
    expect(text).toContain('No disclosure control was applied')
  })

  it('has bands alone under a rule', () => {
    const text = sheet(RULED, { records: BANDED, disclosure: DISCLOSURE })
    expect(answerTo('Which records are not in the numbers?', text)).toMatch(/model does not have|10 to 99/)
    expect(text).toContain(
      'Over all dates, 100 to 999 numbers that would be named without the rule are part of `other`',
    )
    expect(text).toContain('fewer than 10 dates with public usage have no rows')
    expect(text).toContain('at least 5 customers have tokens in it')
    expect(text).toContain('A date that is published does not change.')
    expect(text).not.toMatch(/restatements\.json| %\) \||Shares are of/)
  })

  it('says how much is withheld only where a count of it is below', () => {
    const { withheld: _, ...older } = BANDED
    for (const records of [undefined, older]) {
      expect(sheet(RULED, { records })).toContain('How much that is, and how much is private, is not published.')
    }
    expect(sheet(RULED, { records: BANDED })).toContain('The counts below say how much that is, as a range.')
  })

  it('says so if a release was made of published rows, or if the publisher says nothing of a rule', () => {
    const text = sheet(manifestOf())
    expect(text).toContain('This release was made of published rows, so it has no record counts.')
    expect(text).toContain('The publisher has not said whether a rule keeps numbers from revealing')
  })
})

it('the page has the same answers, escaped, and links to the release', () => {
  const manifest = { publisher: { ...PUBLISHER, datasheet: { users: ANSWERS.users, notice: 'One.\n\nTwo.' } } }
  const facts = siteFacts([rankingRow('2026-11-19', 'acme/one', 7)], { manifest, evidence: { records: EXACT } })
  const { text } = datasheetPage(facts)
  expect(text).toContain('<blockquote>\n<p>Our answer on users.\n# &lt;b&gt;users&lt;/b&gt;</p>\n</blockquote>')
  expect(text).toContain('<p>One.</p>\n<p>Two.</p>')
  expect(textOf(text)).toContain('The publisher has not said who pays for it.')
  expect(tableRows(text, 'Records that were read: counted, and not counted')).toContainEqual([
    'delivered again, counted once',
    '2,000 (0.20 %)',
  ])
  expect(text).toContain(`href="${facts.release}"`)
  expect(faultsOf(text)).toEqual([])
})
