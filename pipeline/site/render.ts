import { DOIS_PATH } from '../contract/published-paths.ts'
import { apiPage } from './api-page.ts'
import { renderAssets } from './assets.ts'
import { type Bundle, entryTags } from './bundle.ts'
import { changelogPage } from './changelog.ts'
import { codeSection } from './code.ts'
import { coveragePages } from './coverage.ts'
import { renderCrawlerFiles } from './crawlers.ts'
import { embedPage } from './embed.ts'
import { explorePage } from './explore.ts'
import type { SiteFacts } from './facts.ts'
import { landingPage } from './landing.ts'
import type { Page } from './layout.ts'
import { leaderboardPages } from './leaderboards.ts'
import { listingPage } from './listing.ts'
import { modelPages } from './model-page.ts'
import { modelsPages } from './models.ts'
import { notFoundPage } from './not-found.ts'
import { tombstonePages } from './tombstone-page.ts'

/** Renders the pages outside the releases, and their assets. */
export function renderSite(facts: SiteFacts, bundle: Bundle): Page[] {
  const { manifest } = facts
  const tag = entryTags(bundle)
  const pages = [
    landingPage(facts, { copyScript: tag('copy.ts'), code: codeSection(facts) }),
    explorePage(facts, tag),
    ...leaderboardPages(facts),
    ...modelsPages(facts, tag),
    ...modelPages(facts),
    ...coveragePages(facts),
    changelogPage(facts),
    listingPage(facts),
    apiPage(facts),
  ]
  const listed = facts.dois === undefined ? pages : [...pages, { path: DOIS_PATH, text: '' }]
  // Search engines need not list these.
  const unlisted = [embedPage(facts, tag), notFoundPage(manifest), ...tombstonePages(facts)]
  return [...bundle.pages, ...renderAssets(), ...pages, ...unlisted, ...renderCrawlerFiles(facts, listed)]
}
