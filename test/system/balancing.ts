/** nginx and Caddy before two servers, with the configurations in deploy/ and the commands of docs/operations.md. */
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { run } from './clone.ts'
import { freePort, type Host, isInstalled, PATH, projectFile, put, runCaddy, runNginx } from './hosting.ts'

export interface Balancer extends Host {
  /**
   * Restarts one of the servers by the lines that docs/operations.md gives for this balancer. What they run over ssh
   * asks `control` instead, a URL.
   */
  restart(server: string, control: string): Promise<void>
}

export interface BalancerKind {
  name: string
  file: string
  isHere: boolean
  /** Balances between two `servers`, each a host with its port; `folder` is empty and for its own files. */
  start(servers: readonly [string, string], folder: string): Promise<Balancer>
}

export const BALANCER_KINDS: readonly BalancerKind[] = [
  { name: 'nginx', file: 'deploy/nginx.conf', isHere: isInstalled('nginx', '-v'), start: startNginx },
  { name: 'Caddy', file: 'deploy/Caddyfile', isHere: isInstalled('caddy', 'version'), start: startCaddy },
]

const FIRST = '10.0.0.11:8080'

const addresses = ([first, second]: readonly [string, string]) =>
  [
    [FIRST, first],
    ['10.0.0.12:8080', second],
  ] as const

async function startNginx(servers: readonly [string, string], folder: string): Promise<Balancer> {
  const port = await freePort()
  const site = put(projectFile('deploy/nginx.conf'), [
    ...addresses(servers),
    ['listen 80;', `listen 127.0.0.1:${port};`],
  ])
  const host = await runNginx(site, port, folder)
  const programs = await standIns(folder, {
    nginx: `exec env PATH='${PATH}' nginx -e stderr -c '${join(folder, 'nginx.conf')}' "$@"`,
  })
  const lines = restartLines('nginx')
    .replaceAll('/etc/nginx/conf.d/tokenboard.conf', join(folder, 'site.conf'))
    .replaceAll('/run/nginx.pid', join(folder, 'pid'))
  return { ...host, restart: (server, control) => restart(lines, programs, server, control) }
}

async function startCaddy(servers: readonly [string, string], folder: string): Promise<Balancer> {
  const port = await freePort()
  const caddyfile = put(projectFile('deploy/Caddyfile'), [
    ...addresses(servers),
    ['data.example.org {', `http://127.0.0.1:${port} {`],
    ['{\n\tservers {', '{\n\tadmin off\n\tservers {'],
  ])
  const host = await runCaddy(caddyfile, port, folder)
  const programs = await standIns(folder, {})
  return { ...host, restart: (server, control) => restart(restartLines('Caddy'), programs, server, control) }
}

/** The lines of docs/operations.md that restart a server behind this balancer. */
function restartLines(balancer: string): string {
  const part = new RegExp(`^With ${balancer}[^\`]*\`\`\`sh\n(.*?)^\`\`\`$`, 'ms')
  const [, lines] = part.exec(projectFile('docs/operations.md')) ?? []
  if (lines === undefined) throw new Error(`docs/operations.md does not say how to restart a server behind ${balancer}`)
  return lines
}

/** A folder of programs that come before those of the machine. */
async function standIns(folder: string, programs: Record<string, string>): Promise<string> {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const ssh = `[ "$*" = '127.0.0.1 systemctl restart tokenboard' ] && exec curl --silent --show-error --fail "$CONTROL"`
  for (const [name, line] of Object.entries({ ...programs, ssh })) {
    await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
  }
  return bin
}

async function restart(lines: string, programs: string, server: string, control: string): Promise<void> {
  const env = { ...process.env, PATH: [programs, PATH].join(delimiter), CONTROL: control }
  const { code, stdout, stderr } = await run('sh', ['-euxc', put(lines, [[FIRST, server]])], { cwd: programs, env })
  if (code !== 0) throw new Error(`the documented restart ended with ${code}: ${stdout}${stderr}`)
}
