import type { FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import type { AppDependencies } from '../../server/app.ts'
import { PresetResponse } from '../../server/schemas/preset.ts'
import type { NewKey } from '../../server/store/keys.ts'
import { type TestApp, testApp } from './app.ts'

export const PRESETS = '/api/v1/presets'

/** The smallest request that makes a version. */
export const REQUEST = { model: 'acme/one', messages: [] }

type Answer = Awaited<ReturnType<FastifyInstance['inject']>>

/** What the holder of one key can do with presets. Paths are those below `PRESETS`, as they go over the wire. */
export interface PresetClient {
  headers: { authorization: string }
  /** Sends `body` as JSON, text as it is. */
  post(slug: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Makes a version, and returns the answer's `data` after a look at it. */
  create(slug: string, body?: unknown): Promise<PresetResponse['data']>
  get(path?: string): Promise<Answer>
}

export interface PresetApp extends TestApp {
  /** Holds a management key of `user_ada` in the default workspace. */
  ada: PresetClient
  clientWith(details: NewKey): Promise<PresetClient>
}

export async function presetApp(options: Partial<AppDependencies> = {}): Promise<PresetApp> {
  const setup = await testApp(options)
  const clientWith = async (details: NewKey) => presetClient(setup.app, await setup.createKey(details))
  return { ...setup, clientWith, ada: await clientWith({ userId: 'user_ada', isManagement: true }) }
}

function presetClient(app: FastifyInstance, secret: string): PresetClient {
  const headers = { authorization: `Bearer ${secret}` }
  const client: PresetClient = {
    headers,
    post: (slug, body = REQUEST, further = {}) =>
      app.inject({
        method: 'POST',
        url: `${PRESETS}/${slug}/messages`,
        headers: { ...headers, 'content-type': 'application/json', ...further },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async create(slug, body = REQUEST) {
      const answer = await client.post(slug, body)
      expect(answer.statusCode, answer.body).toBe(200)
      return PresetResponse.parse(answer.json()).data
    },
    get: (path = '') => app.inject({ url: PRESETS + path, headers }),
  }
  return client
}
