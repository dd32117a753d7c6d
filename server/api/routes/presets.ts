import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../base/errors.ts'
import { CONTENT_TYPE_OF } from '../../published/negotiation.ts'
import { parseChatRequest, parseResponsesRequest } from '../../schemas/completion-requests.ts'
import { parseMessageRequest } from '../../schemas/message-request.ts'
import { limitParameter, OffsetParameter } from '../../schemas/pagination.ts'
import {
  type ListPresetsResponse,
  type PresetResponse,
  PresetSlug,
  type PresetVersionResponse,
  VersionNumber,
} from '../../schemas/preset.ts'
import { SessionId } from '../../schemas/request-parts.ts'
import { storeMemory } from '../../store/memory.ts'
import type { Presets, VersionContent, VersionList } from '../../store/presets.ts'
import type { Store } from '../../store/store.ts'
import { callerOf, requireManagementKey } from '../auth.ts'
import { bodyShare } from '../body-share.ts'
import { sendStored } from '../send.ts'
import type { ZodTypeProvider } from '../validation.ts'

export const MAX_BODY_BYTES = 4 * 1024 * 1024

/** Each cached preset is at most as large as a body. */
const MEMORY_BYTES = 16 * 2 ** 20

export const PresetPath = z.object({ slug: PresetSlug })
export const VersionPath = z.object({ slug: PresetSlug, version: VersionNumber })
export const CreateHeaders = z.looseObject({
  'x-session-id': SessionId.meta({ description: 'As `session_id` of the body, whose value wins.' }).optional(),
})
export const PresetsQuery = z.object({
  offset: OffsetParameter.default(0),
  limit: limitParameter({ maximum: 100 }).default(50),
})

/** The shapes of requests that make a version, by the path of the operation below the preset. */
const REQUESTS: Record<string, (body: unknown) => VersionContent> = {
  messages: parseMessageRequest,
  'chat/completions': parseChatRequest,
  responses: parseResponsesRequest,
}

interface PresetRoutes {
  presets: Presets
  store: Store
  /** Called when a key has too many bodies under way. */
  onRefusedBody(): void
}

/** The operations on presets (docs/specification.md; the lists in docs/api.md). */
export function presetRoutes(app: FastifyInstance, { presets, store, onRefusedBody }: PresetRoutes): void {
  const typed = app.withTypeProvider<ZodTypeProvider>()
  const answers = storeMemory<Buffer>(store, MEMORY_BYTES, (body) => body.length)
  const share = bodyShare(MAX_BODY_BYTES, onRefusedBody)

  for (const [operation, parse] of Object.entries(REQUESTS)) {
    typed.route({
      method: 'POST',
      url: `/presets/:slug/${operation}`,
      bodyLimit: MAX_BODY_BYTES,
      onRequest: [requireManagementKey, share.onRequest],
      preParsing: share.preParsing,
      schema: { params: PresetPath, headers: CreateHeaders },
      async handler(request): Promise<PresetResponse> {
        const content = parse(request.body)
        return { data: await presets.addVersion(callerOf(request), request.params.slug, content) }
      },
    })
  }

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/presets',
    schema: { querystring: PresetsQuery },
    async handler(request): Promise<ListPresetsResponse> {
      const { presets: data, totalCount } = await presets.list(callerOf(request).workspace_id, request.query)
      return { data, total_count: totalCount }
    },
  })

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/presets/:slug',
    schema: { params: PresetPath },
    handler(request, reply) {
      const { workspace_id } = callerOf(request)
      const { slug } = request.params
      const read = async () => {
        const data = found(await presets.find({ workspace_id, slug }))
        return Buffer.from(JSON.stringify({ data } satisfies PresetResponse))
      }
      return sendStored(reply, answers.get(`${workspace_id} ${slug}`, read, request.storeState))
    },
  })

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/presets/:slug/versions',
    schema: { params: PresetPath, querystring: PresetsQuery },
    async handler(request, reply) {
      const { workspace_id } = callerOf(request)
      const list = found(await presets.listVersions({ workspace_id, slug: request.params.slug }, request.query))
      reply.header('content-type', CONTENT_TYPE_OF.json)
      return reply.send(Readable.from(piecesOf(list), { objectMode: false }))
    },
  })

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/presets/:slug/versions/:version',
    schema: { params: VersionPath },
    handler(request, reply) {
      const { workspace_id } = callerOf(request)
      const { slug, version } = request.params
      const read = async () => {
        const data = found(await presets.findVersion({ workspace_id, slug }, version))
        return Buffer.from(JSON.stringify({ data } satisfies PresetVersionResponse))
      }
      return sendStored(reply, answers.get(`${workspace_id} ${slug} ${version}`, read, request.storeState))
    },
  })
}

/** Streams a `ListPresetVersionsResponse`, since a hundred versions of 4 MiB do not fit in memory. */
async function* piecesOf({ versions, totalCount }: VersionList): AsyncIterable<string> {
  yield '{"data":['
  let separator = ''
  for await (const version of versions) {
    yield separator + JSON.stringify(version)
    separator = ','
  }
  yield `],"total_count":${totalCount}}`
}

function found<T>(resource: T | undefined): T {
  if (resource === undefined) throw new ApiError(404, 'Resource not found')
  return resource
}
