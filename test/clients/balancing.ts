/** nginx and Caddy before two servers, with the configurations in deploy/. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from '../support/pipeline.ts'
import { freePort, type Host, isInstalled, put, runCaddy, runNginx } from '../system/hosting.ts'

export interface BalancerKind {
  name: string
  file: string
  isHere: boolean
  /** Balances between two `servers`, each a host with its port; `folder` is empty and for its own files. */
  start(servers: readonly [string, string], folder: string): Promise<Host>
}

export const BALANCER_KINDS: readonly BalancerKind[] = [
  { name: 'nginx', file: 'deploy/nginx.conf', isHere: isInstalled('nginx', '-v'), start: startNginx },
  { name: 'Caddy', file: 'deploy/Caddyfile', isHere: isInstalled('caddy', 'version'), start: startCaddy },
]

const addresses = ([first, second]: readonly [string, string]) =>
  [
    ['10.0.0.11:8080', first],
    ['10.0.0.12:8080', second],
  ] as const

async function startNginx(servers: readonly [string, string], folder: string): Promise<Host> {
  const port = await freePort()
  const site = put(configuration('deploy/nginx.conf'), [
    ...addresses(servers),
    ['listen 80;', `listen 127.0.0.1:${port};`],
  ])
  return runNginx(site, port, folder)
}

async function startCaddy(servers: readonly [string, string], folder: string): Promise<Host> {
  const port = await freePort()
  const caddyfile = put(configuration('deploy/Caddyfile'), [
    ...addresses(servers),
    ['data.example.org {', `http://127.0.0.1:${port} {`],
    ['{\n\tservers {', '{\n\tadmin off\n\tservers {'],
  ])
  return runCaddy(caddyfile, port, folder)
}

function configuration(file: string): string {
  return readFileSync(join(REPOSITORY, file), 'utf8')
}
