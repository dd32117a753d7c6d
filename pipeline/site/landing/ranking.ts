import { type Html, html } from '../../contract/html.ts'
import { GRAINS } from '../../contract/tables.ts'
import type { SiteFacts } from '../facts.ts'
import { aboutPeriod, newestPeriod } from '../leaderboard-period.ts'
import { modelsTable } from '../leaderboard-sections.ts'
import { leaderboardPath } from '../leaderboards.ts'

const RANKS_SHOWN = 10

/** The first ranks of the newest day, with a link to all. */
export function rankingSection(facts: SiteFacts): Html {
  const period = newestPeriod(facts, 'daily')
  if (period === undefined) return html``
  const { first, rows } = period
  const ranking = { path: 'index.html', rows, period, caption: aboutPeriod(period, facts) }
  const others = (['weekly', 'monthly'] as const).filter((table) => newestPeriod(facts, table) !== undefined)
  const links = [
    html`<a href="${leaderboardPath('day')}">All ranks of the day, families and authors</a>`,
    ...others.map((table) => html`, <a href="${leaderboardPath(GRAINS[table])}">of the ${GRAINS[table]}</a>`),
    html`, <a href="${leaderboardPath('all')}">of all time</a>`,
  ]
  return html`<section>
<h2 id="ranking">Top models on ${first}</h2>
${modelsTable(ranking, facts, RANKS_SHOWN)}<p>${links}.</p>
</section>
`
}
