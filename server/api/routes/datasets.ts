import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { OlderReleases } from '../../published/older-releases.ts'
import type { FindRelease } from '../../published/requested-release.ts'
import type { DatasetInfoResponse, ListDatasetsResponse } from '../../schemas/datasets.ts'
import { datasetInfo, datasetSummary } from '../dataset-info.ts'
import { sendTaggedJson } from '../send.ts'
import type { PathPrefix } from '../service-links.ts'
import type { ZodTypeProvider } from '../validation.ts'

/** As the rows of the dataset, its description refuses unknown parameters. */
export const DatasetsQuery = z.strictObject({})

interface Datasets {
  findRelease: FindRelease
  older: Pick<OlderReleases, 'list' | 'hasHistory' | 'dois'>
  prefix: PathPrefix
}

/** `GET /datasets` and `GET /datasets/rankings-daily/info`: what is published, from its own files (docs/api.md). */
export function datasets(app: FastifyInstance, { findRelease, older, prefix }: Datasets): void {
  const typed = app.withTypeProvider<ZodTypeProvider>()
  const current = () => findRelease(undefined, { table: 'daily' })

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/datasets',
    schema: { querystring: DatasetsQuery },
    async handler(request, reply) {
      const response: ListDatasetsResponse = { data: [datasetSummary(await current(), prefix)], total_count: 1 }
      return send(request, reply, response)
    },
  })

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily/info',
    schema: { querystring: DatasetsQuery },
    async handler(request, reply) {
      const dataset = await current()
      const listed = (await older.list()).filter(({ status }) => status !== 'withdrawn')
      const [hasHistory, dois] = await Promise.all([older.hasHistory(), older.dois()])
      const surroundings = { releases: Math.max(1, listed.length), hasHistory, dois, prefix }
      const response: DatasetInfoResponse = { data: datasetInfo(dataset, surroundings) }
      return send(request, reply, response)
    },
  })
}

function send(request: FastifyRequest, reply: FastifyReply, response: object): FastifyReply {
  const json = JSON.stringify(response)
  return sendTaggedJson(request, reply, `"${hash('sha256', json).slice(0, 32)}"`, json)
}
