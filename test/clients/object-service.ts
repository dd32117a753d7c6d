/** A service with buckets (moto, of PyPI), DuckDB's httpfs of PyPI, and what stands between the program and them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { DUCKDB_VERSION } from '../../pipeline/base/database.ts'
import { createUser, signedFor } from '../system/s3.ts'
import { pythonWith } from './python.ts'
import { runTool } from './tools.ts'

const PACKAGES = [`duckdb-extension-httpfs==${DUCKDB_VERSION.slice(1)}`, 'moto[server]==5.2.5']

/** The environment with both, or why there is none. */
export const python = () => pythonWith(PACKAGES)

/** A proxy that has the extension, compressed, in place of all that is asked for; `HTTP_PROXY` leads a download there. */
export async function serveHttpfs(bin: string): Promise<{ url: string; stop(): void }> {
  const words = ['-c', 'import duckdb_extension_httpfs as package; print(package.__path__[0])']
  const { stdout } = await runTool(join(bin, 'python'), words)
  const path = join(stdout.trim(), 'extensions', DUCKDB_VERSION, 'httpfs.duckdb_extension')
  const bytes = gzipSync(await readFile(path), { level: 1 })
  const server = createServer((_, response) => response.end(bytes))
  return { url: await listen(server), stop: () => server.close() }
}

/** Called with each question of a build; what it does to the answer it does by itself, and then returns true. */
type Interception = (question: string, response: ServerResponse) => boolean

export interface ObjectService {
  url: string
  /** Settings of a build that uses it. */
  environment: Record<string, string>
  /** What builds asked for, in order: `LIST prefix`, `HEAD bucket/key`, `GET bucket/key`. */
  asked: string[]
  put(bucket: string, key: string, body: string | Uint8Array): Promise<void>
  remove(bucket: string, key: string): Promise<void>
  createBucket(bucket: string): Promise<void>
  /** From then on builds have to prove who they are; gives what they have to say. */
  requireLogin(): Promise<{ AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string }>
  intercept(interception: Interception | undefined): void
  stop(): Promise<void>
}

const NO_LOGIN = '1000000000'

/** Starts moto, and a forwarder before it that tells what was asked. Pages of listings have two objects. */
export async function startService(bin: string): Promise<ObjectService> {
  const child = spawn(join(bin, 'moto_server'), ['-H', '127.0.0.1', '-p', '0'], {
    env: { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: NO_LOGIN },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'close')
  const moto = await addressOf(createInterface(child.stderr), ended)
  const asked: string[] = []
  let interception: Interception | undefined
  const server = createServer((request, response) => {
    const question = questionOf(request)
    asked.push(question)
    if (interception?.(question, response) !== true) forward(request, response, moto)
  })
  const url = await listen(server)
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${moto}${path}`, init)
    if (!answer.ok) throw new Error(`${init.method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.text()
  }
  const path = (bucket: string, key: string) => `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`
  return {
    url,
    environment: {
      DUCKDB_S3_ENDPOINT: new URL(url).host,
      DUCKDB_S3_USE_SSL: '0',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'anyone',
      AWS_SECRET_ACCESS_KEY: 'anything',
    },
    asked,
    async put(bucket, key, body) {
      // Not by `fetch`, which resolves segments of dots.
      const sending = httpRequest(moto, { method: 'PUT', path: path(bucket, key), headers: signedFor('s3') })
      sending.end(body)
      const [{ statusCode }] = (await once(
        sending.on('response', (answer) => answer.resume()),
        'response',
      )) as [IncomingMessage]
      if (statusCode !== 200) throw new Error(`PUT ${path(bucket, key)}: ${statusCode}`)
    },
    async remove(bucket, key) {
      await ask(path(bucket, key), { method: 'DELETE', headers: signedFor('s3') })
    },
    async createBucket(bucket) {
      await ask(`/${bucket}`, { method: 'PUT' })
    },
    async requireLogin() {
      const login = await createUser(ask)
      await ask('/moto-api/reset-auth', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '0' })
      return login
    },
    intercept(next) {
      interception = next
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function addressOf(lines: AsyncIterable<string>, ended: Promise<unknown>): Promise<string> {
  const said: string[] = []
  const found = (async () => {
    for await (const line of lines) {
      said.push(line)
      const address = /Running on (http:\S+)/.exec(line)?.[1]
      if (address !== undefined) return address
    }
    return undefined
  })()
  const address = await Promise.race([found, ended.then(() => undefined)])
  if (address === undefined) throw new Error(`moto_server ended: ${said.join('\n')}`)
  return address
}

function questionOf({ method = '', url = '' }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, 'http://service')
  const what = decodeURIComponent(pathname.slice(1))
  return searchParams.has('list-type') ? `LIST ${what}${searchParams.get('prefix')}` : `${method} ${what}`
}

function forward(request: IncomingMessage, response: ServerResponse, moto: string): void {
  const { method, url = '', headers } = request
  // As long as nobody has to log in, no signature is broken by this.
  const path = url.includes('list-type=2') && headers.authorization?.includes('anyone/') ? `${url}&max-keys=2` : url
  // The public may read.
  const passed = httpRequest(`${moto}${path}`, { method, headers: { ...signedFor('s3'), ...headers } }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  passed.on('error', () => response.destroy())
  request.pipe(passed)
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
