import { randomUUID } from 'node:crypto'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { authenticate } from './api/auth.ts'
import {
  CONNECTION_LIMITS,
  type ConnectionLimits,
  type Connections,
  MOST_BYTES_OF_HEAD,
  requireSoundHead,
  watchConnections,
} from './api/connections.ts'
import { isOutOfFiles, keepOpenForUnreadBody, toEnvelope } from './api/envelope.ts'
import { acceptJsonAlone } from './api/json-body.ts'
import { type LogTarget, NO_ROUTE, RequestLog, requestFields, routeOf } from './api/logging.ts'
import { allowPreflight, decodableUrl, KnownMethods, originForm } from './api/methods.ts'
import { NO_RATE_LIMITS, rateLimits } from './api/rate-limits.ts'
import { datasets } from './api/routes/datasets.ts'
import { embeddingsModels, modelEndpoints } from './api/routes/embeddings-models.ts'
import { health, pingInTime } from './api/routes/health.ts'
import { currentKey } from './api/routes/key.ts'
import { METRICS, metrics } from './api/routes/metrics.ts'
import { openApi } from './api/routes/openapi.ts'
import { presetRoutes } from './api/routes/presets.ts'
import { rankingChanges } from './api/routes/ranking-changes.ts'
import { rankingsDaily } from './api/routes/rankings-daily.ts'
import { type SmallFile, staticFiles } from './api/routes/static-files.ts'
import { setCommonHeaders } from './api/send.ts'
import { NO_JSON_SCHEMA, validateWithZod } from './api/validation.ts'
import type { RateLimitSettings, TrustProxy } from './base/config.ts'
import { ApiError, RETRY_AFTER_SECONDS } from './base/errors.ts'
import { ABORTED, type ReleaseGauges, type ServerMetrics, serverMetrics } from './metrics/server-metrics.ts'
import { type CurrentRelease, currentRelease } from './published/current-release.ts'
import { errorPages } from './published/error-pages.ts'
import { fileMemory } from './published/file-memory.ts'
import { loadHistory, loadRelease } from './published/loaders.ts'
import { type Loaders, olderReleases } from './published/older-releases.ts'
import { type PublicFiles, publicFiles } from './published/public-files.ts'
import { releaseFinder } from './published/requested-release.ts'
import { siteFrame } from './published/site-frame.ts'
import { staleAfter } from './published/stale-after.ts'
import { syntheticFiles } from './published/synthetic-files.ts'
import { embeddingsCatalogue } from './store/embeddings-models.ts'
import { apiKeys } from './store/keys.ts'
import { presets } from './store/presets.ts'
import { StoreUnavailableError } from './store/retry.ts'
import type { Store } from './store/store.ts'
import { followKeySpend, keySpend } from './store/usage.ts'

declare module 'fastify' {
  interface FastifyInstance {
    releases: CurrentRelease
  }
}

export interface AppDependencies extends Partial<Loaders> {
  store: Store
  publicDir: string
  /** The file of builds with usage per key. Without it, the store keeps its usage. */
  usageFile?: string | undefined
  clock: () => Date
  asOf?: Date | undefined
  trustProxy?: TrustProxy
  /** The path that clients see before all others: empty, or that of a reverse proxy, such as `/tokens`. */
  prefix?: string
  rateLimitSettings?: RateLimitSettings
  connectionLimits?: Partial<ConnectionLimits> | undefined
  /** Those of the store and the process too, if they are watched already. */
  measured?: ServerMetrics | undefined
  metricsToken?: string | undefined
  log: LogTarget
}

const API = '/api/v1'
const WILDCARD = '/*'
const MOST_BYTES_OF_FILES = 16 * 2 ** 20
const LONGEST_PATH_PARAMETER = 16_384

/**
 * The server without its socket. When ready, it has looked for a release and usage; while listening, it reloads both.
 * `toEnvelope` formats all errors. Checks run in this order: 404, 405, 401, 429, the rest.
 */
export function buildApp(dependencies: AppDependencies): FastifyInstance {
  const { store, publicDir, usageFile, clock, asOf, trustProxy = false, prefix = '', log } = dependencies
  const { measured = serverMetrics(), metricsToken: token } = dependencies
  const limitsOfConnections = { ...CONNECTION_LIMITS, ...dependencies.connectionLimits }
  const { headMs, requestMs, idleMs, stalledMs, checkEveryMs } = limitsOfConnections
  const app = fastify({
    logger: { level: log.level, stream: log.stream },
    logController: new RequestLog(log, measured.countRequest),
    genReqId: () => randomUUID(),
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: NO_JSON_SCHEMA },
    // During a stop, requests on open connections are still answered, with `Connection: close`.
    return503OnClosing: false,
    // A busy machine may need longer than Fastify's 10 seconds to load the first release.
    pluginTimeout: 0,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionTimeout: stalledMs,
    http: {
      headersTimeout: headMs,
      connectionsCheckingInterval: checkEveryMs,
      maxHeaderSize: MOST_BYTES_OF_HEAD,
      // `requireSoundHead` checks it and responds with the envelope.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: LONGEST_PATH_PARAMETER },
    rewriteUrl: ({ url = '/' }) => decodableUrl(originForm(url)),
    frameworkErrors(error, request, reply) {
      setCommonHeaders(request, reply)
      sendError(error, request, reply)
      measured.countRequest(NO_ROUTE, request.method, reply.statusCode)
      request.log.info({ ...requestFields(request), status: reply.statusCode }, 'request')
    },
    clientErrorHandler: (error, socket) => connections.refuseUnreadable(error, socket),
  })
  // A logger per request costs as much as its log line. The lines have the request id themselves.
  app.log.child = () => app.log
  const connections: Connections = watchConnections(app.server, limitsOfConnections.most, app.log, (status) =>
    measured.countRequest(NO_ROUTE, '', status),
  )
  const loaders = { loadRelease, loadHistory, ...dependencies }
  const releases = currentRelease(publicDir, app.log, loaders.loadRelease)
  const older = olderReleases(publicDir, app.log, loaders, {
    onRefused: () => measured.countRateLimited('older_releases'),
  })
  const findRelease = releaseFinder(releases, older)
  const usage = keySpend(store)
  const followed = usageFile === undefined ? [releases] : [releases, followKeySpend(usageFile, usage, app.log)]
  const { rateLimitSettings = NO_RATE_LIMITS } = dependencies
  const limits = rateLimits(rateLimitSettings, clock, measured.countRateLimited)
  const files = publicFiles(publicDir, app.log)
  const frame = siteFrame(publicDir)
  const methods = new KnownMethods()
  const refuseUnrouted = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    methodsOf(request, methods, files)
      .then((allowed) => answerUnrouted(request, reply, allowed))
      .catch(done)
  }

  app.decorate('releases', releases)
  app.decorateRequest('apiKey', null)
  app.decorateRequest('storeState')
  app.setValidatorCompiler(validateWithZod)
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof StoreUnavailableError) measured.countStoreError()
    sendError(error, request, reply)
  })
  acceptJsonAlone(app)
  app.addHook('onRoute', (route) => {
    // The wildcard of published files matches every path. Methods of a file depend on whether it exists.
    // The methods of the metrics would say that they are there.
    if (route.url !== WILDCARD && route.url !== METRICS) methods.add(route)
  })
  // Hooks of most requests are synchronous: a promise costs as much as the hook's work.
  app.addHook('onRequest', (request, reply, done) => {
    requireSoundHead(request.raw)
    // Not in a 404 handler, which would run after the body is read and parsed.
    if (request.is404) refuseUnrouted(request, reply, done)
    else done()
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    setCommonHeaders(request, reply)
    done()
  })
  app.addHook('onRequestAbort', async (request) => {
    measured.countRequest(routeOf(request), request.method, ABORTED)
    request.log.info(requestFields(request), 'request aborted by the client')
  })
  app.addHook('preClose', async () => connections.closeIdle())
  for (const file of followed) {
    app.addHook('onReady', file.check)
    app.addHook('onListen', async () => file.follow())
    app.addHook('onClose', file.stop)
  }
  app.addHook('onClose', older.stop)
  app.addHook('onListen', async () => measured.start())
  app.addHook('onClose', async () => measured.stop())
  measured.watch({
    connections: connections.open,
    requestsInFlight: connections.busy,
    olderReleasesWaiting: older.waiting,
    release: releaseGauges(releases, publicDir),
    isStoreUp: () =>
      pingInTime(store).then(
        () => true,
        () => false,
      ),
  })

  app.register(async (scope) => health(scope, { store, releases, onStoreError: measured.countStoreError }))
  app.register(async (scope) => openApi(scope, { releases, frame, prefix }))
  app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      // The wildcard also matches GET of paths whose own routes have no GET.
      if (methods.of(pathOf(request)).length > 0) refuseUnrouted(request, reply, done)
      else done()
    })
    const sendFile = staticFiles(scope, {
      files,
      memory: fileMemory<SmallFile>(publicDir, MOST_BYTES_OF_FILES),
      isSynthetic: syntheticFiles(publicDir),
      errorPages: errorPages(publicDir, frame, prefix),
      prefix,
    })
    metrics(scope, { collect: measured.collect, token, otherwise: sendFile })
  })
  app.register(
    async (api) => {
      const findKey = apiKeys(store).findByHash
      const { countBadKey } = limits
      const catalogue = embeddingsCatalogue(store)
      api.addHook('onRequest', authenticate({ storeState: () => store.state(), findKey, clock, countBadKey }))
      if (limits.countRequest !== undefined) api.addHook('onRequest', limits.countRequest)
      currentKey(api, { store, usage, now: () => asOf ?? clock() })
      embeddingsModels(api, { catalogue, prefix })
      modelEndpoints(api, { catalogue })
      presetRoutes(api, {
        presets: presets(store, clock),
        store,
        onRefusedBody: () => measured.countRateLimited('bodies'),
      })
      datasets(api, { findRelease, older, prefix })
      rankingChanges(api, { findRelease })
      rankingsDaily(api, { findRelease, now: () => asOf ?? clock(), prefix })
    },
    { prefix: API },
  )
  return app
}

function releaseGauges(releases: CurrentRelease, publicDir: string): () => Promise<ReleaseGauges | undefined> {
  const findDeadline = staleAfter(publicDir)
  return async () => {
    const manifest = releases.dataset()?.manifest
    if (manifest === undefined) return undefined
    const { as_of, rows, release } = manifest
    return { asOf: new Date(as_of), rows, staleAfter: await findDeadline(release) }
  }
}

function pathOf({ url }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1)
  return path
}

async function methodsOf(request: FastifyRequest, known: KnownMethods, files: PublicFiles): Promise<string[]> {
  const path = pathOf(request)
  const methods = known.of(path)
  if (methods.length > 0) return methods
  return (await files.find(path)).kind === 'nothing' ? [] : ['GET', 'HEAD']
}

/** No route has this path and method. Answers OPTIONS for known paths, else responds 404 or 405. */
function answerUnrouted(request: FastifyRequest, reply: FastifyReply, methods: string[]): void {
  if (methods.length === 0) throw new ApiError(404, 'Resource not found')
  const allowed = [...methods, 'OPTIONS']
  reply.header('allow', allowed.join(', '))
  if (request.method !== 'OPTIONS') throw new ApiError(405, 'Method not allowed')
  allowPreflight(request, reply, allowed)
  reply.code(204).send()
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  // The client left while sending its body. The abort is logged elsewhere.
  if (error === request.raw.errored) return
  const { status, body } = toEnvelope(error, request.apiKey?.creator_user_id)
  if (status === 500) request.log.error({ reqId: request.id, err: error }, 'unexpected error')
  if (error instanceof StoreUnavailableError) {
    request.log.error({ reqId: request.id, err: error }, 'the store does not respond')
  }
  if (isOutOfFiles(error)) request.log.error({ reqId: request.id, err: error }, 'no more files can be opened')
  keepOpenForUnreadBody(request, reply)
  const retryAfter = RETRY_AFTER_SECONDS[status]
  if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter)
  reply.code(status).header('cache-control', 'no-store').send(body)
}
