/** A service with the API of S3 (moto, of PyPI), which checks signatures, and a forwarder before it that tells what was asked. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pythonWith } from '../clients/python.ts'

/** The environment with the service, or why there is none. */
export const moto = () => pythonWith(['moto[server]==5.2.5'])

export interface Login {
  AWS_ACCESS_KEY_ID: string
  AWS_SECRET_ACCESS_KEY: string
}

export interface S3 {
  url: string
  /** What was asked for, in order, such as `PUT bucket/key`. */
  asked: string[]
  /** Called with each question. The question is never answered if this returns true. */
  onQuestion: (question: string) => boolean
  put(path: string, body: string): Promise<void>
  createBucket(bucket: string): Promise<void>
  /** From then on everybody has to sign; gives the key of a user. */
  requireLogin(): Promise<Login>
  stop(): Promise<void>
}

const NO_LOGIN = '1000000000'

export async function startS3(bin: string): Promise<S3> {
  const child = spawn(join(bin, 'moto_server'), ['-H', '127.0.0.1', '-p', '0'], {
    env: { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: NO_LOGIN },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'close')
  const service = await addressOf(createInterface(child.stderr))
  const ask = async (path: string, init: RequestInit): Promise<string> => {
    const answer = await fetch(`${service}${path}`, init)
    if (!answer.ok) throw new Error(`${init.method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.text()
  }
  const s3: S3 = {
    url: '',
    asked: [],
    onQuestion: () => false,
    async put(path, body) {
      const encoded = path.split('/').map(encodeURIComponent).join('/')
      await ask(`/${encoded}`, { method: 'PUT', headers: signedFor('s3'), body })
    },
    createBucket: async (bucket) => void (await ask(`/${bucket}`, { method: 'PUT' })),
    async requireLogin() {
      const login = await createUser(ask)
      await ask('/moto-api/reset-auth', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '0' })
      return login
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      child.kill('SIGTERM')
      await ended
    },
  }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service')
    const question = `${request.method} ${decodeURIComponent(pathname.slice(1))}`
    s3.asked.push(question)
    if (s3.onQuestion(question)) response.destroy()
    else forward(request, response, service)
  })
  s3.url = await listen(server)
  return s3
}

/** Tells moto which of its services is meant. As long as nobody has to log in, it believes any signature. */
function signedFor(name: string): { authorization: string } {
  return { authorization: `AWS4-HMAC-SHA256 Credential=any/20250101/us-east-1/${name}/aws4_request` }
}

/** A user who may do everything with buckets. */
async function createUser(ask: (path: string, init: RequestInit) => Promise<string>): Promise<Login> {
  const iam = (fields: Record<string, string>) =>
    ask('/', {
      method: 'POST',
      headers: signedFor('iam'),
      body: new URLSearchParams({ Version: '2010-05-08', UserName: 'publisher', ...fields }),
    })
  const statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' }
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await iam({ Action: 'CreateUser' })
  await iam({ Action: 'PutUserPolicy', PolicyName: 'all', PolicyDocument })
  const answer = await iam({ Action: 'CreateAccessKey' })
  const field = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(answer)?.[1] ?? ''
  return { AWS_ACCESS_KEY_ID: field('AccessKeyId'), AWS_SECRET_ACCESS_KEY: field('SecretAccessKey') }
}

async function addressOf(lines: AsyncIterable<string>): Promise<string> {
  const said: string[] = []
  for await (const line of lines) {
    said.push(line)
    const address = /Running on (http:\S+)/.exec(line)?.[1]
    if (address !== undefined) return address
  }
  throw new Error(`moto_server ended: ${said.join('\n')}`)
}

/** Who does not sign is the public, which may read until everybody has to sign. */
function forward(request: IncomingMessage, response: ServerResponse, service: string): void {
  const { method, url, headers } = request
  const passed = httpRequest(`${service}${url}`, { method, headers: { ...signedFor('s3'), ...headers } }, (answer) => {
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
