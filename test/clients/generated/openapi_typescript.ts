/** Calls the five operations of the specification with types of openapi-typescript and openapi-fetch. Prints what it read. */
import createClient from 'openapi-fetch'
import type { paths } from './types.ts'

const [, , baseUrl = '', key = ''] = process.argv
const client = createClient<paths, 'application/json'>({ baseUrl, headers: { Authorization: `Bearer ${key}` } })

const { data: current } = await client.GET('/key')
const query = { start_date: '2025-02-08', end_date: '2025-02-09' }
const { data: ranking } = await client.GET('/datasets/rankings-daily', { params: { query } })
const path = { slug: 'from-a-client' }
const { data: preset } = await client.POST('/presets/{slug}/messages', {
  params: { path },
  body: {
    model: 'acme/one',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hello' }],
    plugins: [{ id: 'web', max_results: 3 }],
  },
})
const { data: version } = await client.GET('/presets/{slug}/versions/{version}', {
  params: { path: { ...path, version: '1' } },
})
const { data: models } = await client.GET('/embeddings/models')

const read = {
  label: current?.data.label,
  rows: ranking?.data.length,
  last: ranking?.data.at(-1)?.date,
  preset: preset?.data.slug,
  version: version?.data.version,
  config: version?.data.config,
  models: models?.data.map(({ id }) => id),
}
process.stdout.write(JSON.stringify(read))
