import { readStatement } from '../../base/statements.ts'

const TITLES = {
  tokens_per_day: 'Tokens of each day',
  largest_of_a_week: 'The ten largest models of the last seven days',
  shares_of_authors: 'Shares of authors, week by week',
  fastest_growing: 'Models that grew most from one week to the next',
  newly_named: 'Models named for the first time in the last 30 days',
  rank_over_time: 'The rank of the largest model, day by day',
  concentration: 'The share of the ten largest models of each month',
  weekdays: 'Mean tokens by day of the week',
  level_and_share: 'The largest models in the first whole week and in the newest: tokens and shares',
  edge_of_the_ranking: 'Models that days of the newest whole week do not name: the least and the most tokens',
  free_variants: 'Models with a free variant in the newest whole week: both together',
  restated: 'Numbers that a later release changed',
  as_of_a_release: 'Tokens of each day as the first release said them',
} as const

export interface Question {
  title: string
  sql: string
}

/** The questions that the SQL console offers. */
export function readQuestions(): Question[] {
  return Object.entries(TITLES).map(([name, title]) => ({ title, sql: readStatement(`questions/${name}`) }))
}
