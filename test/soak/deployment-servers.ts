/** Two servers on one PostgreSQL, and a balancer before them. */
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiKeys } from '../../server/store/keys.ts'
import { openStore } from '../../server/store/store.ts'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'
import { writeIndex } from '../support/release-index.ts'
import { type ServerProcess, serveTokenboard } from '../support/server-process.ts'
import type { Balancer, BalancerKind } from '../system/balancing.ts'
import { type Postgres, startPostgres } from '../system/postgres.ts'

const POLL_MS = 20

export interface Deployment {
  folder: string
  postgres: Postgres
  servers: [ServerProcess, ServerProcess]
  key: string
  /** The key of a client that asks for too much. */
  greedyKey: string
  /** Older releases that nobody asked for yet. */
  releases: string[]
  /** Starts a server on the port of the one that was there. */
  startAgain(position: 0 | 1): Promise<void>
  remove(): Promise<void>
}

/** Starts everything but the balancer, with `older` releases before the current one. */
export async function deploy(older: number): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-deployment-'))
  const folders = { publicDir: join(folder, 'public'), dataDir: join(folder, 'data') }
  const releases = await publishMany(folders.publicDir, older)
  const postgres = await startPostgres('fsync=off')
  const start = (port = 0) => {
    const settings = { PORT: String(port), DATABASE_URL: postgres.url, TRUST_PROXY: '1', LOG_LEVEL: 'info' }
    return serveTokenboard(folders, settings, { lines: 1 })
  }
  const servers: Deployment['servers'] = [await start(), await start()]
  const key = await poll(() => servers.flatMap(({ lines }) => lines.join('\n').match(/(?<=^key ).*$/m) ?? [])[0])
  return {
    folder,
    postgres,
    servers,
    key,
    greedyKey: await createKey(postgres.url),
    releases,
    async startAgain(position) {
      servers[position] = await start(servers[position].port)
    },
    async remove() {
      for (const server of servers) await server.kill()
      await postgres.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function createKey(url: string): Promise<string> {
  const store = await openStore(url)
  const { secret } = await apiKeys(store).create({ isManagement: true }, new Date())
  await store.close()
  return secret
}

/** Starts balancers before the servers, and first those servers that were lost. */
export async function balance(deployment: Deployment, kinds: readonly BalancerKind[]): Promise<Balancer[]> {
  const { folder, servers } = deployment
  for (const position of [0, 1] as const) if (!servers[position].isRunning()) await deployment.startAgain(position)
  const [first, second] = servers.map(({ url }) => new URL(url).host)
  return Promise.all(
    kinds.map(async (kind) => {
      const own = join(folder, kind.name)
      await mkdir(own)
      return kind.start([first ?? '', second ?? ''], own)
    }),
  )
}

/**
 * Restarts a server by the lines of docs/operations.md for the first of the balancers: those of nginx contain those of
 * Caddy.
 */
export async function restart(deployment: Deployment, [balancer]: readonly Balancer[], position: 0 | 1): Promise<void> {
  let started: Promise<void> | undefined
  // Stops the server as systemd does, and begins to start it again.
  const control = createServer(async (_request, response) => {
    const server = deployment.servers[position]
    server.signal('SIGTERM')
    const { code } = await server.ended
    started = deployment.startAgain(position)
    response.writeHead(code === 0 ? 200 : 500).end()
  })
  control.listen(0, '127.0.0.1')
  await once(control, 'listening')
  try {
    const { port } = control.address() as AddressInfo
    await balancer?.restart(new URL(deployment.servers[position].url).host, `http://127.0.0.1:${port}`)
    await started
  } finally {
    control.close()
  }
}

/** Waits until each balancer uses both servers, and both have the database. */
export async function settle({ servers }: Deployment, balancers: readonly Balancer[]): Promise<void> {
  for (const { url } of servers) await poll(async () => (await fetch(`${url}/readyz`)).ok || undefined)
  for (const { url } of balancers) {
    const mark = `/${FOLDER}/latest.json?settled=${performance.now()}`
    const hasSeen = ({ log }: ServerProcess) => log.some((line) => line.includes(mark))
    await poll(async () => {
      await fetch(url + mark).then((answer) => answer.text())
      return servers.every(hasSeen) || undefined
    })
  }
}

/** Publishes a release and so many older ones, whose names it returns. */
async function publishMany(publicDir: string, older: number): Promise<string[]> {
  const names: string[] = []
  for (let index = 0; index < older; index++) {
    const asOf = new Date(Date.UTC(2025, 0, 10, index)).toISOString().replace('.000', '')
    names.push(await publish(publicDir, sampleRows({ days: 3 }), { asOf }))
  }
  await publish(publicDir, sampleRows({ days: 40 }))
  await writeIndex(publicDir)
  return names
}

/** Asks again and again until there is an answer. */
export async function poll<Answer>(ask: () => Answer | undefined | Promise<Answer | undefined>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await sleep(POLL_MS)
  }
}
