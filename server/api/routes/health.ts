import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../base/errors.ts'
import type { CurrentRelease } from '../../published/current-release.ts'
import type { Store } from '../../store/store.ts'

/** Load balancers need a quick reply, and a slower store could not serve requests well. */
const STORE_LIMIT_MS = 2000

interface Health {
  store: Store
  releases: CurrentRelease
  onStoreError(): void
}

/** `/healthz`: the process runs. `/readyz`: a release is loaded and the store responds. */
export function health(app: FastifyInstance, { store, releases, onStoreError }: Health): void {
  app.route({ method: ['GET', 'HEAD'], url: '/healthz', handler: async () => ({ status: 'ok' }) })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    async handler(request) {
      const release = releases.dataset()?.manifest.release
      const isStoreReady = await pingInTime(store).then(
        () => true,
        (error: unknown) => {
          onStoreError()
          request.log.error({ reqId: request.id, err: error }, 'the store does not respond')
          return false
        },
      )
      if (release === undefined || !isStoreReady) {
        const parts = { dataset: release === undefined ? 'not loaded' : 'ok', store: isStoreReady ? 'ok' : 'no answer' }
        throw new ApiError(503, 'Not ready', parts)
      }
      return { status: 'ready', release }
    },
  })
}

/** Rejects if the store fails or takes too long. */
export async function pingInTime(store: Pick<Store, 'ping'>): Promise<void> {
  const late = new AbortController()
  const limit = sleep(STORE_LIMIT_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error(`the store took more than ${STORE_LIMIT_MS / 1000} seconds`)
  })
  try {
    await Promise.race([store.ping(), limit])
  } finally {
    late.abort()
  }
}
