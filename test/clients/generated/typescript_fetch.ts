/** Calls the five operations of the specification with a TypeScript client of openapi-generator. Prints what it read. */
import { APIKeysApi, Configuration, DatasetsApi, EmbeddingsApi, PresetsApi } from './client/index.ts'

const [, , basePath = '', accessToken = ''] = process.argv
const configuration = new Configuration({ basePath, accessToken })

const key = await new APIKeysApi(configuration).getCurrentKey()
const [startDate, endDate] = [new Date(2025, 1, 8), new Date(2025, 1, 9)]
const ranking = await new DatasetsApi(configuration).getRankingsDaily({ startDate, endDate })
const presets = new PresetsApi(configuration)
const slug = 'from-a-client'
const preset = await presets.createPresetsMessages({
  slug,
  messageRequest: {
    model: 'acme/one',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hello' }],
    plugins: [{ id: 'web', max_results: 3 }],
  },
})
const version = await presets.getPresetVersion({ slug, version: '1' })
const models = await new EmbeddingsApi(configuration).listEmbeddingsModels()

const read = {
  label: key.data.label,
  rows: ranking.data.length,
  // Its dates are midnights of the local zone.
  last: ranking.data.at(-1)?.date?.toLocaleDateString('sv'),
  preset: preset.data.slug,
  version: version.data.version,
  config: version.data.config,
  models: models.data.map(({ id }) => id),
}
process.stdout.write(JSON.stringify(read))
