import { z } from 'zod'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { openStore } from '../../server/store/store.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { writeIndex } from '../support/release-index.ts'
import { type ServerProcess, serveTokenboard } from '../support/server-process.ts'
import { exchange, type WireAnswer } from '../support/wire.ts'
import { diceFrom } from './dice.ts'
import { type Known, type OpenApi, type Probe, probes } from './endpoint-probes.ts'
import { type Figure, inFolder, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const REQUESTS = 20_000
const AT_ONCE = 8
const NOW = '2025-02-10T09:30:00Z'
const OTHER_WORKSPACE = '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e'

export const part: SoakPart = {
  promise: 'whatever is sent to the API, the answer is the document’s or an error in the envelope, and comes in time',
  run: (options) =>
    inFolder(async (folders) => {
      const releases = await publishTwo(folders.publicDir)
      const server = await serveTokenboard(folders, { AS_OF: NOW })
      try {
        const figures = await askAll(server, await fill(server, folders.dataDir, releases), options)
        if (server.log.length > 0) throw new Error(`the server logged ${server.log[0]}`)
        return figures
      } finally {
        await server.kill()
      }
    }),
}

async function askAll(server: ServerProcess, known: Known, options: SoakOptions): Promise<Figure[]> {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi
  const judge = judgeOf(document)
  const supply = probes(document, known, diceFrom(seededRandom('endpoints', options.seed)))
  const requests = shareOf(REQUESTS, options)
  const statuses = new Map<number, number>()
  let sent = 0
  const client = async () => {
    while (sent < requests) {
      options.signal.throwIfAborted()
      const number = ++sent
      const { value: probe } = supply.next() as { value: Probe }
      try {
        const { status } = await ask(server, probe, judge)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      } catch (error) {
        throw new Error(`request ${number}, ${probe.what}: ${error}`)
      }
      if (number % 2000 === 0) options.report(`${number} of ${requests} requests`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  const counted = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`)
  return [
    { what: 'requests made from `/openapi.json`', value: String(requests) },
    { what: 'answers by status', value: counted.join(', ') },
    { what: 'status 500, answers without envelope or out of schema, hangs', value: '0' },
  ]
}

async function publishTwo(publicDir: string): Promise<string[]> {
  const rows = sampleRows({ days: 40, models: 5 })
  const older = await publish(publicDir, rows.slice(0, -6), { asOf: '2025-02-09T00:12:00Z' })
  const newer = await publish(publicDir, rows)
  await writeIndex(publicDir)
  return [older, newer]
}

/** Makes keys of every kind, and presets to be read. */
async function fill(
  { url, key: management }: ServerProcess & { key: string },
  dataDir: string,
  releases: string[],
): Promise<Known> {
  const store = await openStore(`sqlite:${dataDir}/store.sqlite`)
  const keys = apiKeys(store)
  const now = new Date(NOW)
  const { secret: plain } = await keys.create({}, now)
  const { secret: elsewhere } = await keys.create({ workspaceId: OTHER_WORKSPACE }, now)
  const { secret: revoked, key } = await keys.create({}, now)
  await keys.revoke(key.id, now)
  await store.close()
  const slugs = ['agent', 'a', 'A.b_c~d-e', 'z'.repeat(128)]
  const headers = { authorization: `Bearer ${management}`, 'content-type': 'application/json' }
  for (const slug of slugs) {
    const path = `${url}/api/v1/presets/${slug}/messages`
    const answer = await fetch(path, { method: 'POST', headers, body: '{"model":"acme/one","messages":[]}' })
    if (answer.status !== 200) throw new Error(`${slug} was not made: ${await answer.text()}`)
  }
  const dates = ['2025-01-01', '2025-01-31', '2025-02-08', '2025-02-09']
  return { keys: { management, plain, revoked, elsewhere }, slugs, releases, dates }
}

/** The answer to the probe, once it and the answer to the request behind it on the same connection are right. */
async function ask({ port }: ServerProcess, probe: Probe, judge: Judge): Promise<WireAnswer> {
  const [answer, follower, ...more] = await exchange(port, probe.bytes, [probe.isHead])
  if (answer === undefined) throw new Error('no answer')
  if (more.length > 0) throw new Error(`${more.length} answers too many`)
  const { connection } = answer.headers
  if (follower === undefined && !probe.isLast && connection !== 'close')
    throw new Error('the request behind it has no answer')
  if (follower !== undefined && follower.status !== 200) throw new Error(`the request behind it got ${follower.status}`)
  const fault = judge(probe, answer)
  if (fault !== undefined) throw new Error(`${fault}; it got ${answer.status} ${answer.body.toString('utf8', 0, 500)}`)
  return answer
}

/** Says what is wrong with an answer. */
type Judge = (probe: Probe, answer: WireAnswer) => string | undefined

function judgeOf({ components }: OpenApi): Judge {
  const schemas = new Map<string, z.ZodType>()
  /** zod looks for definitions where JSON Schema has them, not where OpenAPI does. */
  const withDefinitions = (schema: object) => {
    const text = JSON.stringify({ ...schema, $defs: components.schemas })
    return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))
  }
  const misfit = (schema: object, body: unknown): string | undefined => {
    const name = JSON.stringify(schema)
    const known = schemas.get(name) ?? z.fromJSONSchema(withDefinitions(schema))
    schemas.set(name, known)
    return known.safeParse(body).error?.message
  }
  const faultOfError = (type: string, status: number, body: Buffer) => {
    if (type !== 'application/json') return `an error must be JSON, not ${type}`
    const error = JSON.parse(body.toString())
    const fault = misfit({ $ref: '#/components/schemas/ErrorEnvelope' }, error)
    if (fault !== undefined) return `must have the envelope: ${fault}`
    return error.error.code === status ? undefined : 'the code must be the status'
  }
  return ({ operation, statuses, isHead }, { status, headers, body }) => {
    if (!statuses.includes(status)) return `must be answered by ${statuses.join(' or ')}`
    const [type = ''] = headers['content-type']?.split(';', 1) ?? []
    if (isHead || body.length === 0) return status >= 400 && !isHead ? 'an error must have a body' : undefined
    if (status >= 400) return faultOfError(type, status, body)
    if (operation === undefined) return undefined
    const response = operation.responses[status] ?? {}
    const documented = '$ref' in response ? components.responses[response.$ref.split('/').at(-1) ?? ''] : response
    const content = documented?.content?.[type]
    if (content === undefined) return `${type} is not documented`
    const isPlainJson = type === 'application/json' && headers['content-encoding'] === undefined
    return content.schema !== undefined && isPlainJson ? misfit(content.schema, JSON.parse(body.toString())) : undefined
  }
}
