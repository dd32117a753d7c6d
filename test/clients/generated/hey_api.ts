/** Calls the five operations of the specification with a client of hey-api. Prints what it read. */
import { createClient } from './hey/client/index.ts'
import * as api from './hey/sdk.gen.ts'

const [, , baseUrl = '', auth = ''] = process.argv
const client = createClient({ baseUrl, auth, throwOnError: true })
const options = { client, throwOnError: true } as const

const key = await api.getCurrentKey(options)
const query = { start_date: '2025-02-08', end_date: '2025-02-09' }
const ranking = await api.getRankingsDaily({ ...options, query })
const path = { slug: 'from-a-client' }
const preset = await api.createPresetsMessages({
  ...options,
  path,
  body: {
    model: 'acme/one',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hello' }],
    plugins: [{ id: 'web', max_results: 3 }],
  },
})
const version = await api.getPresetVersion({ ...options, path: { ...path, version: '1' } })
const models = await api.listEmbeddingsModels(options)

const rows = ranking.data.data
const read = {
  label: key.data.data.label,
  rows: rows.length,
  last: rows.at(-1)?.date,
  preset: preset.data.data.slug,
  version: version.data.data.version,
  config: version.data.data.config,
  models: models.data.data.map(({ id }) => id),
}
process.stdout.write(JSON.stringify(read))
