// Node 20 or newer, or any browser. The answer has the last 31 days; tokens are text, because a day may exceed 2^53.
const BASE = 'https://tokenboard.example/'

const answer = await fetch(new URL('api/v1/datasets/rankings-daily.json', BASE))
if (!answer.ok) throw new Error(`${answer.url} answers ${answer.status}`)
const { data } = await answer.json()
const last = data.at(-1).date
const since = new Date(Date.parse(last) - 6 * 86_400_000).toISOString().slice(0, 10)
const tokens = new Map()
for (const { date, model_permaslug, total_tokens } of data) {
  if (model_permaslug === 'other' || date < since) continue
  tokens.set(model_permaslug, (tokens.get(model_permaslug) ?? 0n) + BigInt(total_tokens))
}
const top = [...tokens].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, 10)
for (const [model, sum] of top) console.log(`${model},${sum}`)
