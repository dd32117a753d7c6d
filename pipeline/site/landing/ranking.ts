import { type Html, html } from '../../contract/html.ts'
import { GRAINS } from '../../contract/tables.ts'
import type { SiteFacts } from '../facts.ts'
import { aboutPeriod, newestPeriod } from '../leaderboard-period.ts'
import { modelsTable } from '../leaderboard-sections.ts'
import { leaderboardPath } from '../leaderboards.ts'

const RANKS_SHOWN = 10

/** The first ranks of the newest week that is over, or else of the newest day, with links to all. */
export function rankingSection(facts: SiteFacts): Html {
  const period = newestPeriod(facts, 'weekly') ?? newestPeriod(facts, 'daily')
  if (period === undefined) return html``
  const { table, first, rows } = period
  const ranking = { path: 'index.html', rows, period, caption: aboutPeriod(period, facts) }
  const others = (['weekly', 'monthly'] as const).filter((table) => newestPeriod(facts, table) !== undefined)
  const links = [
    html`<a href="${leaderboardPath('day')}">day</a>`,
    ...others.map((table) => html`, <a href="${leaderboardPath(GRAINS[table])}">${GRAINS[table]}</a>`),
    html` and of <a href="${leaderboardPath('all')}">all time</a>`,
  ]
  return html`<section>
<h2 id="ranking">Top models ${table === 'daily' ? `on ${first}` : 'of the week'}</h2>
${modelsTable(ranking, facts, RANKS_SHOWN)}<p>All ranks, families and authors of the ${links}.</p>
</section>
`
}
