import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { mayScrape } from '../../metrics/access.ts'
import { METRICS_MEDIA_TYPE, type MetricFamily, renderMetrics } from '../../metrics/registry.ts'

export const METRICS = '/metrics'

interface Metrics {
  collect(): Promise<MetricFamily[]>
  token: string | undefined
  /** Answers everybody else, as if there were no such path. */
  otherwise: RouteHandlerMethod
}

/** `/metrics` for those who may read it. It is in no list of paths and methods, so that nobody else learns of it. */
export function metrics(app: FastifyInstance, { collect, token, otherwise }: Metrics): void {
  /** In a turn of its own: this request is not yet one of those that are being answered. */
  async function collectLater(): Promise<MetricFamily[]> {
    await Promise.resolve()
    return await collect()
  }

  app.route({
    method: ['GET', 'HEAD'],
    url: METRICS,
    handler(request, reply) {
      const { headers, httpVersion, socket } = request.raw
      if (!mayScrape({ peer: socket.remoteAddress, httpVersion, headers }, token)) {
        return otherwise.call(app, request, reply)
      }
      return collectLater().then((families) =>
        reply.type(METRICS_MEDIA_TYPE).header('cache-control', 'no-store').send(renderMetrics(families)),
      )
    },
  })
}
