import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { openStore } from '../../server/store/store.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { writeIndex } from '../support/release-index.ts'
import { exchange, type WireAnswer } from '../support/wire.ts'
import { diceFrom } from './dice.ts'
import { type Known, type OpenApi, type Operation, type Probe, probes } from './endpoint-probes.ts'
import { type SoakPart, shareOf } from './part.ts'
import { type Serving, serve } from './serving.ts'

const REQUESTS = 20_000
const AT_ONCE = 8
const NOW = '2025-02-10T09:30:00Z'
const OTHER_WORKSPACE = '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e'

export const part: SoakPart = {
  name: 'endpoints',
  promise: 'whatever is sent to the API, the answer is the document’s or an error in the envelope, and comes in time',
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), 'tokenboard-endpoints-'))
    const folders = { publicDir: join(folder, 'public'), dataDir: join(folder, 'data') }
    const releases = await publishTwo(folders.publicDir)
    const server = await serve(folders, { AS_OF: NOW })
    try {
      const known = await fill(server, folders.dataDir, releases)
      const document = await documentOf(server)
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
          const answer = await ask(server, probe).catch((error: unknown) => fail(number, probe, String(error)))
          const fault = judge(probe, answer)
          if (fault !== undefined)
            fail(number, probe, `${fault}; it got ${answer.status} ${answer.body.toString('utf8', 0, 500)}`)
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
          if (number % 2000 === 0) options.report(`${number} of ${requests} requests`)
        }
      }
      const fail = (number: number, probe: Probe, fault: string): never => {
        throw new Error(`request ${number} of seed ${options.seed}, ${probe.what}: ${fault}`)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, client))
      if (server.complaints.length > 0)
        throw new Error(`seed ${options.seed}: the server logged ${server.complaints[0]}`)
      const counted = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`)
      return [
        { what: 'requests made from `/openapi.json`', value: String(requests) },
        { what: 'answers by status', value: counted.join(', ') },
        { what: 'status 500, answers without envelope or out of schema, hangs', value: '0' },
      ]
    } finally {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function publishTwo(publicDir: string): Promise<string[]> {
  const rows = sampleRows({ days: 40, models: 5 })
  const older = await publish(publicDir, rows.slice(0, -6), { asOf: '2025-02-09T00:12:00Z' })
  const newer = await publish(publicDir, rows)
  await writeIndex(publicDir)
  return [older, newer]
}

/** Makes keys of every kind, and presets to be read. */
async function fill(server: Serving, dataDir: string, releases: string[]): Promise<Known> {
  const store = await openStore(`sqlite:${dataDir}/store.sqlite`)
  const keys = apiKeys(store)
  const now = new Date(NOW)
  const { secret: plain } = await keys.create({}, now)
  const { secret: elsewhere } = await keys.create({ workspaceId: OTHER_WORKSPACE }, now)
  const { secret: revoked, key } = await keys.create({}, now)
  await keys.revoke(key.id, now)
  await store.close()
  const slugs = ['agent', 'a', 'A.b_c~d-e', 'z'.repeat(128)]
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  for (const slug of slugs) {
    const url = `http://127.0.0.1:${server.port}/api/v1/presets/${slug}/messages`
    const answer = await fetch(url, { method: 'POST', headers, body: '{"model":"acme/one","messages":[]}' })
    if (answer.status !== 200) throw new Error(`${slug} was not made: ${await answer.text()}`)
  }
  const dates = ['2025-01-01', '2025-01-31', '2025-02-08', '2025-02-09']
  return { keys: { management: server.key, plain, revoked, elsewhere }, slugs, releases, dates }
}

async function documentOf({ port }: Serving): Promise<OpenApi> {
  return (await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()) as OpenApi
}

/** The answer to the probe, after a look at that of the request behind it on the same connection. */
async function ask({ port }: Serving, { bytes, isHead, isLast }: Probe): Promise<WireAnswer> {
  const [answer, follower, ...more] = await exchange(port, bytes, [isHead])
  if (answer === undefined) throw new Error('no answer')
  if (more.length > 0) throw new Error(`${more.length} answers too many`)
  const { connection } = answer.headers
  if (follower === undefined && !isLast && connection !== 'close')
    throw new Error('the request behind it has no answer')
  if (follower !== undefined && follower.status !== 200) throw new Error(`the request behind it got ${follower.status}`)
  return answer
}

/** Says what is wrong with an answer. */
function judgeOf(document: OpenApi): (probe: Probe, answer: WireAnswer) => string | undefined {
  const schemas = new Map<string, z.ZodType>()
  const schemaOf = (schema: object): z.ZodType => {
    const name = JSON.stringify(schema)
    const known = schemas.get(name)
    if (known !== undefined) return known
    // zod looks for definitions where JSON Schema has them, not where OpenAPI does.
    const text = JSON.stringify({ ...schema, $defs: document.components.schemas })
    const made = z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')))
    schemas.set(name, made)
    return made
  }

  const contentOf = ({ responses }: Operation, status: number) => {
    const response = responses[status] ?? {}
    const answer = '$ref' in response ? document.components.responses[response.$ref.split('/').at(-1) ?? ''] : response
    return answer?.content ?? {}
  }
  const envelope = schemaOf({ $ref: '#/components/schemas/ErrorEnvelope' })

  return ({ operation, statuses, isHead }, { status, headers, body }) => {
    if (!statuses.includes(status)) return `must be answered by ${statuses.join(' or ')}`
    const [type = ''] = headers['content-type']?.split(';', 1) ?? []
    if (isHead || body.length === 0) return status >= 400 && !isHead ? 'an error must have a body' : undefined
    if (status >= 400) {
      if (type !== 'application/json') return `an error must be JSON, not ${type}`
      const parsed = envelope.safeParse(JSON.parse(body.toString()))
      if (!parsed.success) return `must have the envelope: ${parsed.error.message}`
      if (JSON.parse(body.toString()).error.code !== status) return 'the code must be the status'
      return undefined
    }
    if (operation === undefined) return undefined
    const content = contentOf(operation, status)[type]
    if (content === undefined) return `${type} is not documented`
    if (content.schema === undefined || type !== 'application/json' || headers['content-encoding'] !== undefined)
      return undefined
    const parsed = schemaOf(content.schema).safeParse(JSON.parse(body.toString()))
    return parsed.success ? undefined : `must fit its schema: ${parsed.error.message}`
  }
}
