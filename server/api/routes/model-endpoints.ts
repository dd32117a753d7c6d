import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../base/errors.ts'
import { ModelEndpointsPath, type ModelEndpointsResponse } from '../../schemas/embeddings-model.ts'
import type { EmbeddingsCatalogue } from '../../store/embeddings-models.ts'
import { sendTaggedJson } from '../send.ts'
import type { ZodTypeProvider } from '../validation.ts'

/** `GET /models/{author}/{slug}/endpoints`, where `links.details` of embeddings models leads (docs/api.md). */
export function modelEndpoints(app: FastifyInstance, { catalogue }: { catalogue: EmbeddingsCatalogue }): void {
  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/models/:author/:slug/endpoints',
    schema: { params: ModelEndpointsPath },
    async handler(request, reply) {
      const { author, slug } = request.params
      const { hash, byName } = await catalogue.current()
      const model = byName.get(`${author}/${slug}`)
      if (model === undefined) throw new ApiError(404, 'Resource not found')
      const { id, name, created, description, architecture } = model
      const response: ModelEndpointsResponse = { data: { id, name, created, description, architecture, endpoints: [] } }
      return sendTaggedJson(request, reply, `"${hash}"`, JSON.stringify(response))
    },
  })
}
