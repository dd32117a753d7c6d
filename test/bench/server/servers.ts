import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onCore } from './cores.ts'

/** A server that runs as a process of its own. */
export interface RunningServer {
  pid: number
  port: number
  /** What it printed before it could be asked. */
  printed: string[]
  startMilliseconds: number
  close(): Promise<void>
}

const ROOT = join(import.meta.dirname, '../../..')

/** Node as `make` runs it. */
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning']

/** `tokenboard serve` as a user runs it, with its log in a file; the first start of a store prints three lines, others one. */
export async function tokenboard(
  folder: string,
  environment: Record<string, string>,
  lines: number,
): Promise<RunningServer> {
  return await startNode(['pipeline/cli.ts', 'serve', '--port', '0'], environment, join(folder, 'log'), lines)
}

/** A script of this folder that prints `listening http://…`. */
export async function script(name: string, folder: string, ...words: string[]): Promise<RunningServer> {
  return await startNode([join(import.meta.dirname, name), ...words], {}, join(folder, `${name}.log`), 1)
}

async function startNode(
  words: string[],
  environment: Record<string, string>,
  log: string,
  lines: number,
): Promise<RunningServer> {
  const { PATH, HOME } = process.env
  const started = performance.now()
  const child = spawn(process.execPath, [...NODE_FLAGS, ...words], {
    cwd: ROOT,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', openSync(log, 'a')],
  })
  const printed: string[] = []
  let startMilliseconds = 0
  for await (const line of createInterface(child.stdout as NodeJS.ReadableStream)) {
    if (printed.push(line) === 1) startMilliseconds = performance.now() - started
    if (printed.length === lines) break
  }
  const port = Number(new URL(printed[0]?.replace('listening ', '') ?? 'http://nowhere').port)
  if (!(port > 0) || child.pid === undefined) throw new Error(`${words.join(' ')} does not listen; see ${log}`)
  onCore(child.pid, 'server')
  return { pid: child.pid, port, printed, startMilliseconds, close: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** The reason why nginx cannot be the baseline; undefined when it can. */
export function nginxProblem(): string | undefined {
  const { stderr, error } = spawnSync('nginx', ['-V'], { encoding: 'utf8' })
  if (error !== undefined) return 'nginx is not installed (apt-get install nginx-light)'
  return stderr.includes('http_gzip_static_module') ? undefined : 'this nginx has no gzip_static'
}

/** nginx as Debian sets it up, with one worker, no access log and `gzip_static`, on the files of `root`. */
export async function nginx(folder: string, root: string): Promise<RunningServer> {
  const port = await freePort()
  const conf = join(folder, 'nginx.conf')
  await mkdir(join(folder, 'nginx'), { recursive: true })
  await writeFile(
    conf,
    `daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
     events { worker_connections 768; }
     http {
       sendfile on; tcp_nopush on; access_log off; keepalive_requests 1000000000; types { application/json json; text/html html; }
       client_body_temp_path ${folder}/nginx; proxy_temp_path ${folder}/nginx; fastcgi_temp_path ${folder}/nginx;
       uwsgi_temp_path ${folder}/nginx; scgi_temp_path ${folder}/nginx;
       server { listen 127.0.0.1:${port}; root ${root}; gzip_static on; }
     }`,
  )
  const child = spawn('nginx', ['-c', conf, '-p', folder, '-e', join(folder, 'nginx.log')], { stdio: 'ignore' })
  const started = performance.now()
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() - started > 5000)
      throw new Error(`nginx does not start; see ${folder}/nginx.log`)
  }
  onCore(child.pid, 'server')
  return {
    pid: child.pid ?? 0,
    port,
    printed: [],
    startMilliseconds: performance.now() - started,
    close: () => stop(child),
  }
}

async function answers(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
