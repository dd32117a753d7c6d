import { areNotTotal, column, combine, count, type Expression, isOneOf, optional, shared } from './expression.ts'
import type { Accounting } from './schema.ts'

const request = count(column('req_units'))
const response = count(column('res_units'))
const total = optional(count(column('total_units')))

/** Only the total includes Anthropic's cached input (also on Vertex AI) and Google's reasoning. */
const HAS_PARTS_IN_TOTAL_ALONE = shared(optional(isOneOf(column('ai_org'), ['anthropic', 'vertex-ai', 'google'])))

/** Portkey's counts, and for some providers what only the total includes. */
export const PORTKEY_TOTAL: Accounting = {
  prompt_tokens: withRestOfTotal(),
  completion_tokens: response,
  parts_disagree: { parts_not_total: areNotTotal([withRestOfTotal(), response], total) },
}

/** The prompt's units plus the part of the total that neither count includes. */
function withRestOfTotal(): Expression<'count'> {
  const parts = [request, response, total, HAS_PARTS_IN_TOTAL_ALONE]
  const sum = combine('count', parts, (columns) => {
    const [own, other, all] = [request.sql(columns), response.sql(columns), total.sql(columns)]
    const hasMore = `${HAS_PARTS_IN_TOTAL_ALONE.sql(columns)} AND ${all} > ${own} + ${other}`
    return `CASE WHEN ${hasMore} THEN ${all} - ${other} ELSE ${own} END`
  })
  return { ...sum, needs: request.needs, exists: request.exists }
}
