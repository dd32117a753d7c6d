/** What pages say of disclosure control: the words of `release/documents/disclosure.ts`, and nothing without them. */
import { describe, expect, it } from 'vitest'
import type { RuleStatement } from '../../pipeline/contract/disclosure.ts'
import { html } from '../../pipeline/contract/html.ts'
import { bandedQuality } from '../../pipeline/dataset/banded-quality.ts'
import { Account } from '../../pipeline/dataset/quality.ts'
import { countRecords } from '../../pipeline/dataset/records.ts'
import { coveragePages } from '../../pipeline/site/coverage.ts'
import { renderCrawlerFiles } from '../../pipeline/site/crawlers.ts'
import { explorePage } from '../../pipeline/site/explore.ts'
import { landingPage } from '../../pipeline/site/landing.ts'
import { leaderboardPages } from '../../pipeline/site/leaderboards.ts'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { modelsPages } from '../../pipeline/site/models.ts'
import { releasePage } from '../../pipeline/site/release-page.ts'
import { manifestOf } from '../support/manifest.ts'
import { periodsOf } from '../support/rows.ts'
import { rankingRow, siteFacts } from '../support/site.ts'
import { CHANGES, QUALITY, ROWS } from './release-facts.ts'

const RULED: RuleStatement = {
  rule: { min_contributors: 5, p_percent: 10, publish_after_days: 3, revise: 'never' },
  since: '2025-01-01',
  protects: ['customers'],
  exempt: ['our <own> tests'],
}

function pagesOf(disclosure: RuleStatement | 'none' | undefined): Record<string, string> {
  const rows = [rankingRow('2026-11-14', 'acme/one', 50), rankingRow('2026-11-16', 'acme/one', 70)]
  const ruled = disclosure === undefined ? {} : { disclosure }
  const facts = siteFacts(rows, { manifest: { ...ruled, provisional_from: '2026-11-17' } })
  const [, missing] = facts.coverage.days
  if (missing !== undefined && typeof disclosure === 'object') missing.reason = 'not_published'
  const pages = [landingPage(facts), explorePage(facts, () => html``), ...coveragePages(facts), ...modelsPages(facts)]
  const periods = periodsOf(rows)
  const ranked = leaderboardPages({ ...facts, periods })
  const all = [...pages, ...ranked, ...modelPages(facts), ...renderCrawlerFiles(facts, [])]
  return Object.fromEntries(all.map(({ path, text }) => [path, text]))
}

const RULE = 'at least 5 customers have tokens in it'

describe('under a rule', () => {
  const pages = pagesOf(RULED)

  it.each(['index.html', 'explore.html', 'llms.txt'])('%s says the rule and what is exempt', (path) => {
    expect(pages[path]).toContain(RULE)
    expect(pages[path]).toMatch(path.endsWith('.html') ? 'our &lt;own&gt; tests' : 'our <own> tests')
    expect(pages[path]).not.toMatch(/are provisional/)
  })

  it('the coverage says when dates are published, and why some are not', () => {
    expect(pages['coverage.html']).toContain('A date is published 3 days after its end')
    expect(pages['coverage.html']).toContain('2026-11-15: no usage that could be published')
    expect(pages['coverage.html']).toContain('Which of these is not said')
    expect(pages['coverage.html']).not.toContain('Provisional from')
  })

  it('sums over dates say that they are at least that', () => {
    expect(pages['models.html']).toContain('so a model had at least these')
    expect(Object.entries(pages).find(([path]) => path.startsWith('models/'))?.[1]).toContain('Tokens, at least')
  })

  it('leaderboards say what is not named, and neither a top 50 nor what is provisional', () => {
    const paths = Object.keys(pages).filter((path) => path.startsWith('leaderboards/'))
    expect(paths).toContain('leaderboards/day.html')
    for (const path of paths) expect(pages[path], path).not.toMatch(/top 50|provisional|final/)
    expect(pages['leaderboards/all.html']).toContain('that a day does not name')
  })

  it('the page of a release has bands', () => {
    const manifest = manifestOf({ disclosure: RULED })
    const account = new Account()
    const ranking = {
      ...{ rows: [], periods: { weekly: [], monthly: [] }, models: 1, published_records: 12_345n },
      ...{ outside: [], splits: new Map(), ruled: undefined },
    }
    const quality = bandedQuality(manifest, { account, records: countRecords(ranking, account), ranking })
    const { text } = releasePage(manifest, { rows: ROWS, changes: CHANGES, quality })
    expect(text).toContain('<td>10000 to 99999</td>')
    expect(text).toContain(RULE)
    expect(text).not.toContain('counts of each day')
    expect(text).not.toMatch(/checks (warn:|found)/)
  })
})

it('says on the overview, the explorer and the release that no rule was applied', () => {
  const sentence = 'No disclosure control was applied'
  const pages = pagesOf('none')
  for (const path of ['index.html', 'explore.html', 'llms.txt']) expect(pages[path]).toContain(sentence)
  const manifest = manifestOf({ disclosure: 'none' })
  expect(releasePage(manifest, { rows: ROWS, changes: CHANGES, quality: QUALITY }).text).toContain(sentence)
})

it('says nothing where the publisher does not', () => {
  for (const text of Object.values(pagesOf(undefined))) expect(text).not.toMatch(/disclosure|customers/i)
})
