import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveTokenboard, startNode } from '../../support/server-process.ts'
import { freePort } from '../../system/hosting.ts'
import { serveDatasette } from '../peers/peers.ts'

/** A server that runs as a process of its own. */
export interface RunningServer {
  pid: number
  port: number
  startMs: number
  close(): Promise<void>
}

const CORE = { server: '0', client: '1' }

/** Whether a server and its client can have a core each. */
export const HAS_CORES = cpus().length > 1 && spawnSync('taskset', ['-p', String(process.pid)]).status === 0

/** Binds a process and all of its threads to one core. */
export function onCore(pid: number | undefined, role: keyof typeof CORE): void {
  if (HAS_CORES && pid !== undefined) execFileSync('taskset', ['-a', '-p', '-c', CORE[role], String(pid)])
}

type Starting = ReturnType<typeof startNode>

async function running<S extends Awaited<Starting>>(starting: Promise<S>): Promise<S & RunningServer> {
  const server = await starting
  onCore(server.pid, 'server')
  const close = async () => {
    server.signal('SIGTERM')
    await server.ended
  }
  return { ...server, close }
}

/** `tokenboard serve` as a user runs it, with its log in a file; the first start of a store prints three lines, others one. */
export function tokenboard(folder: string, publicDir: string, asOf: string, lines: number) {
  const folders = { publicDir, dataDir: join(folder, 'data') }
  const settings = { AS_OF: asOf, LOG_LEVEL: 'info' }
  return running(serveTokenboard(folders, settings, { lines, logFile: join(folder, 'log') }))
}

/** A script of this folder that prints `listening http://…`. */
export function script(name: string, folder: string, ...words: string[]) {
  const { PATH, HOME } = process.env
  const logFile = join(folder, `${name}.log`)
  return running(startNode([join(import.meta.dirname, name), ...words], { PATH, HOME }, { logFile }))
}

/** Datasette on the rows of the current release. */
export function datasette(python: string, publicDir: string, folder: string) {
  const rankings = join(publicDir, 'datasets/rankings-daily/v1/latest/rankings-daily.csv')
  return running(serveDatasette(python, rankings, folder))
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
  const started = performance.now()
  const child = spawn('nginx', ['-c', conf, '-p', folder, '-e', join(folder, 'nginx.log')], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  while ((await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error(`nginx does not start; see ${folder}/nginx.log`)
    await sleep(10)
  }
  onCore(child.pid, 'server')
  const close = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { pid: child.pid ?? 0, port, startMs: performance.now() - started, close }
}
