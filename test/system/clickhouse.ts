/** Two servers of Debian's ClickHouse as the two shards of a cluster, on the loopback interface and in a temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { openAsBlob } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, isInstalled } from './hosting.ts'

export const CLUSTER = 'pair'
export const USER = { name: 'tokenboard', password: 'a password that is secret' }

/** Has the password of `USER`, and a profile that leaves out what is more than a few groups. */
export const LIMITED_USER = 'limited'

/** Debian's program knows no --version; with a configuration that is not there it ends and says so. */
export const isClickHouseHere = isInstalled('sh', '-c', 'command -v clickhouse-server')

export interface Node {
  url: string
  /** Runs a statement as the administrator; the answer is text. */
  run(statement: string): Promise<string>
  /** Fills a table from a CSV file. */
  load(table: string, path: string): Promise<void>
  /** Ends the server without a chance to say goodbye. */
  kill(): Promise<void>
}

export interface Pair {
  first: Node
  second: Node
  stop(): Promise<void>
}

export async function startPair(): Promise<Pair> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-clickhouse-'))
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const [http1 = 0, tcp1 = 0, http2 = 0, tcp2 = 0] = ports
  const nodes: Node[] = []
  const stop = async () => {
    for (const node of nodes) await node.kill()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    nodes.push(await startNode(join(folder, '1'), { http: http1, tcp: tcp1, shards: [tcp1, tcp2] }))
    nodes.push(await startNode(join(folder, '2'), { http: http2, tcp: tcp2, shards: [tcp1, tcp2] }))
  } catch (error) {
    await stop()
    throw error
  }
  const [first, second] = nodes
  if (first === undefined || second === undefined) throw new Error('no servers')
  return { first, second, stop }
}

interface Place {
  http: number
  tcp: number
  shards: number[]
}

async function startNode(folder: string, place: Place): Promise<Node> {
  await mkdir(join(folder, 'data'), { recursive: true })
  await writeFile(join(folder, 'config.xml'), configuration(folder, place))
  await writeFile(join(folder, 'users.xml'), USERS)
  await mkdir(join(folder, 'users.d'))
  await writeFile(join(folder, 'users.d/tokenboard.xml'), await deployedUser())
  const { PATH: own = '' } = process.env
  const PATH = [own, '/usr/sbin'].join(delimiter)
  const words = [`--config-file=${join(folder, 'config.xml')}`]
  const server = spawn('clickhouse-server', words, { env: { ...process.env, PATH, TZ: '' }, stdio: 'ignore' })
  const url = `http://127.0.0.1:${place.http}`
  await answering(server, url, join(folder, 'errors'))
  return {
    url,
    run: (statement) => post(url, statement),
    load: async (table, path) => {
      await post(`${url}?query=${encodeURIComponent(`INSERT INTO ${table} FORMAT CSV`)}`, await openAsBlob(path))
    },
    async kill() {
      if (server.exitCode !== null || server.signalCode !== null) return
      const exit = once(server, 'exit')
      server.kill('SIGKILL')
      await exit
    },
  }
}

/** The user of `deploy/`, with a password and a log of its queries. */
async function deployedUser(): Promise<string> {
  const file = await readFile(join(import.meta.dirname, '../../deploy/clickhouse/users.xml'), 'utf8')
  return file
    .replace('PUT THE SHA-256 OF THE PASSWORD HERE', hash('sha256', USER.password))
    .replace('<readonly>2</readonly>', '<readonly>2</readonly><log_queries>1</log_queries>')
}

async function post(url: string, body: string | Blob): Promise<string> {
  const answer = await fetch(url, { method: 'POST', body })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text.trim()
}

async function answering(server: ChildProcess, url: string, errors: string): Promise<void> {
  const isUp = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  while (!(await isUp())) {
    if (server.exitCode !== null) throw new Error(`clickhouse-server ended: ${await readFile(errors, 'utf8')}`)
    await sleep(50)
  }
}

function configuration(folder: string, { http, tcp, shards }: Place): string {
  const shard = (port: number) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`
  return `<yandex>
  <logger><level>warning</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
  <http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
  <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
  <users_config>${folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <timezone>America/New_York</timezone>
  <mark_cache_size>268435456</mark_cache_size>
  <remote_servers><${CLUSTER}>${shards.map(shard).join('')}</${CLUSTER}></remote_servers>
  <query_log><database>system</database><table>query_log</table></query_log>
</yandex>`
}

const ALLOWED = '<networks><ip>127.0.0.1</ip></networks><quota>default</quota>'
const USERS = `<yandex>
  <profiles><default><log_queries>1</log_queries></default>
    <cut><readonly>2</readonly><max_rows_to_group_by>5</max_rows_to_group_by><group_by_overflow_mode>any</group_by_overflow_mode></cut></profiles>
  <users>
    <default><password></password><profile>default</profile>${ALLOWED}</default>
    <${LIMITED_USER}><password>${USER.password}</password><profile>cut</profile>${ALLOWED}</${LIMITED_USER}>
  </users>
  <quotas><default></default></quotas>
</yandex>`
