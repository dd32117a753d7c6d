import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../base/errors.ts'
import {
  type EmbeddingsModel,
  ModelEndpointsPath,
  type ModelEndpointsResponse,
} from '../../schemas/embeddings-model.ts'
import { DEFAULT_LIMIT, limitParameter, MOST_ENTRIES, OffsetParameter, type Page } from '../../schemas/pagination.ts'
import type { EmbeddingsCatalogue } from '../../store/embeddings-models.ts'
import { sendTaggedJson } from '../send.ts'
import type { ZodTypeProvider } from '../validation.ts'

export const ListEmbeddingsModelsQuery = z.object({
  offset: OffsetParameter,
  limit: limitParameter({ maximum: MOST_ENTRIES }),
})

interface Catalogued {
  catalogue: EmbeddingsCatalogue
  prefix: string
}

/** `GET /embeddings/models` (docs/specification.md). */
export function embeddingsModels(app: FastifyInstance, { catalogue, prefix }: Catalogued): void {
  app.withTypeProvider<ZodTypeProvider>().route({
    method: ['GET', 'HEAD'],
    url: '/embeddings/models',
    schema: { querystring: ListEmbeddingsModelsQuery },
    async handler(request, reply) {
      const { entries, hash } = await catalogue.current()
      const { offset, limit } = pageOf(request.query, entries.length)
      const end = offset + limit
      const next = end < entries.length ? `${prefix}${request.routeOptions.url}?offset=${end}&limit=${limit}` : null
      const etag = `"${hash}-${offset}-${limit}${prefix}"`
      return sendTaggedJson(
        request,
        reply,
        etag,
        body(entries.slice(offset, end).map(withPrefix(prefix)), next, entries.length),
      )
    },
  })
}

/** Without parameters, the whole list is one page. */
function pageOf({ offset, limit }: z.infer<typeof ListEmbeddingsModelsQuery>, totalCount: number): Page {
  if (offset === undefined && limit === undefined) return { offset: 0, limit: totalCount }
  return { offset: offset ?? 0, limit: limit ?? DEFAULT_LIMIT }
}

const API = '/api/v1/'

/** Entries link to this server by its own paths. */
function withPrefix(prefix: string): (entry: string) => string {
  if (prefix === '') return (entry) => entry
  return (entry) => {
    const { links, ...model }: EmbeddingsModel = JSON.parse(entry)
    const details = links.details.startsWith(API) ? prefix + links.details : links.details
    return JSON.stringify({ ...model, links: { ...links, details } })
  }
}

/** A `ListEmbeddingsModelsResponse`, joined from the stored JSON of its entries. */
function body(entries: readonly string[], next: string | null, totalCount: number): string {
  return `{"data":[${entries.join(',')}],"links":{"next":${JSON.stringify(next)}},"total_count":${totalCount}}`
}

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
