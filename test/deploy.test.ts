/** What the files in deploy/ say about each other and about the project; test/system runs those that can be run here. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './support/folder.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const { PATH = '' } = process.env
const yaml: { load(text: string): unknown } = createRequire(import.meta.url)('js-yaml')

interface Service {
  image: string
  build?: string
  pull_policy?: string
  user?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  mem_limit?: string
  pids_limit?: number
  restart?: string
  command?: string[]
  environment?: Record<string, string | number>
  env_file?: string
  ports?: string[]
  tmpfs?: string | string[]
  volumes?: string[]
  healthcheck?: { test: string[] }
  networks: Record<string, { ipv4_address: string }> | string[]
}

interface Compose {
  services: Record<string, Service>
  volumes: Record<string, null>
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>
}

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8')
const DOCKERFILE = read('Dockerfile')
const NGINX = read('deploy/nginx.conf')

it('docs/hosting.md makes a unit with a port of its own from that of the server', () => {
  const [, expression = ''] = /^sed '(.+)' tokenboard\.service/m.exec(read('docs/hosting.md')) ?? []
  const unit = execFileSync('sed', [expression, join(REPOSITORY, 'deploy/systemd/tokenboard.service')])
  expect(unit.toString()).toMatch(/^Environment=PORT=%i DATA_DIR=/m)
})

describe('deploy/compose.yaml', () => {
  const text = read('deploy/compose.yaml')
  const { services, volumes, networks } = yaml.load(text) as Compose
  const { nginx } = services
  const all = Object.entries(services)
  const own = all.filter(([, { image }]) => image === 'tokenboard')

  it.for(all)('confines %s', ([, service]) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
      restart: service.command === undefined ? 'unless-stopped' : 'no',
    })
  })

  it('runs no service as root, and pulls only images with a digest', () => {
    expect(own.map(([name]) => name)).toEqual(['server-1', 'server-2', 'build'])
    // The user of the image.
    for (const [, { user, build, pull_policy }] of own) {
      expect({ user, build, pull_policy }).toEqual({ user: undefined, build: '..', pull_policy: 'build' })
    }
    for (const [, { image, user }] of all.filter(([, service]) => service.build === undefined)) {
      expect(image).toMatch(/^[a-z]+:[\d.]+@sha256:[0-9a-f]{64}$/)
      expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    }
  })

  it('gives the servers the addresses and the port of nginx.conf', () => {
    const addresses = own.flatMap(([, service]) =>
      Object.values(service.networks).map((network) => (typeof network === 'string' ? [] : network.ipv4_address)),
    )
    const port = /^EXPOSE (\d+)$/m.exec(DOCKERFILE)?.[1]
    const upstreams = [...NGINX.matchAll(/^ {4}server (\S+) /gm)].map(([, server]) => server)
    expect(addresses.flat().map((address) => `${address}:${port}`)).toEqual(upstreams)
    const { tokenboard } = networks
    const [{ subnet = '' } = {}] = tokenboard?.ipam.config ?? []
    for (const address of addresses.flat()) expect(`${address.replace(/\d+$/, '0')}/24`).toBe(subnet)
    expect(nginx?.ports?.map((mapping) => mapping.split(':').at(-1))).toEqual([/listen (\d+);/.exec(NGINX)?.[1]])
  })

  it('mounts only existing files and named volumes, where the image keeps its data', () => {
    const places = JSON.parse(/^VOLUME (.*)$/m.exec(DOCKERFILE)?.[1] ?? '[]')
    for (const [name, service] of all) {
      for (const mount of service.volumes ?? []) {
        const [from = '', to = ''] = mount.split(':')
        if (from === './config') expect(service.environment).toEqual({ SOURCES: '/config/sources.json' })
        else if (from.startsWith('.')) expect(existsSync(join(REPOSITORY, 'deploy', from)), mount).toBe(true)
        else expect(volumes, mount).toHaveProperty(from)
        if (service.image === 'tokenboard' && !from.startsWith('.')) expect(places).toContain(to)
        if (name.startsWith('server')) expect(mount).toMatch(/:ro$/)
      }
    }
  })

  it('uses existing settings and commands, and has no password', () => {
    const reference = read('docs/reference.md')
    for (const [, { environment = {}, command = ['serve'] }] of own) {
      for (const name of Object.keys(environment)) expect(reference).toContain(`\`${name}\``)
      expect(existsSync(join(REPOSITORY, 'pipeline/commands', `${command[0]}.ts`)), command[0]).toBe(true)
    }
    expect(own.filter(([, { env_file }]) => env_file === 'secrets.env').map(([name]) => name)).toEqual([
      'server-1',
      'server-2',
    ])
    expect(text).not.toMatch(/(?:PASSWORD|SECRET|TOKEN)\w*[:=] *\S|\/\/\w+:/)
  })

  it('asks for the health that needs no database, and not for readiness', () => {
    expect(nginx?.healthcheck?.test.join(' ')).toContain('/healthz')
    expect(text).not.toContain('readyz')
    expect(DOCKERFILE).toMatch(/^HEALTHCHECK .*\/healthz/m)
  })
})

describe('deploy/nginx.conf and deploy/Caddyfile', () => {
  const caddyfile = read('deploy/Caddyfile')

  it('never take an answer of a server for its failure', () => {
    expect(NGINX.match(/^ *proxy_next_upstream .*/gm)).toEqual(['    proxy_next_upstream error timeout;'])
    expect(caddyfile).not.toMatch(/^\s*(?:unhealthy_status|health_status)/m)
    expect(caddyfile.match(/^\s*health_uri .*/gm)).toEqual(['\thealth_uri /healthz'])
  })

  it('never send a request twice that may have changed something', () => {
    expect(caddyfile.match(/^\s*method .*/gm)).toEqual(['\t\t\t\tmethod GET HEAD'])
    expect(NGINX).not.toContain('non_idempotent')
  })

  it('have steps for a restart, of which those with Caddy are among those with nginx', () => {
    const [nginx = [], caddy = []] = ['nginx', 'Caddy'].map((name) => {
      const block = new RegExp(`^With ${name}[^\`]*\`\`\`sh\\n(.*?)\\n\`\`\`$`, 'ms').exec(read('docs/operations.md'))
      return block?.[1]?.split('\n')
    })
    expect(caddy.length).toBeGreaterThan(0)
    expect(nginx).toEqual(expect.arrayContaining(caddy))
  })

  it('wait 5 seconds for a file, as documented, and then ask the other server', () => {
    expect(/location \/ \{.*?proxy_read_timeout (\w+);/s.exec(NGINX)?.[1]).toBe('5s')
    expect(/\n\thandle \{.*?response_header_timeout (\w+)\n/s.exec(caddyfile)?.[1]).toBe('5s')
    expect(read('docs/operations.md')).toContain(
      'A request that was sent to it waits 5 s, and then gets the answer of the',
    )
  })

  it('wait longer for the API than a server waits for its database', () => {
    const api = /location \/api\/ \{.*?proxy_read_timeout (\d+)s/s.exec(NGINX)?.[1]
    const caddy = /handle \/api\/\* \{.*?response_header_timeout (\d+)s/s.exec(caddyfile)?.[1]
    const documented = /`query_timeout` \((\d+)\)/.exec(read('docs/operations.md'))?.[1]
    expect(Number(documented)).toBeGreaterThan(0)
    // The key, the limit, and what was asked for.
    for (const seconds of [api, caddy]) expect(Number(seconds) * 1000).toBeGreaterThan(3 * Number(documented))
  })
})

describe('deploy/github-pages.yml', () => {
  it('pins every action by its commit, and requires the advisories', () => {
    const workflow = read('deploy/github-pages.yml')
    const used = [...workflow.matchAll(/uses: (.*)$/gm)].map(([, action]) => action)
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    expect(used).toHaveLength(4)
    expect(workflow).toMatch(/ADVISORIES: required\n\s+run: make check\n/)
  })
})

describe('deploy/bucket/publish.sh', () => {
  const DATASET = 'datasets/rankings-daily/v1'
  const RELEASE = `${DATASET}/releases/20250310T001200Z`
  const TOMBSTONE = `${DATASET}/releases/20250309T001200Z/TOMBSTONE.json`
  const GONE = `${DATASET}/releases/20250309T001200Z/rankings-daily.csv`

  /** In place of rclone: lists what is there, and notes what it is asked to do with which files. */
  const RCLONE = `#!/bin/sh
[ "$1" != lsf ] || exec cat "$FOLDER/there"
{ echo "$1 $(echo "$*" | grep -o 'max-age=[0-9]*')"; } >> "$FOLDER/asked"
while [ "$1" != --files-from-raw ]; do shift; done
sort "$2" >> "$FOLDER/asked"
`
  const SITE = [
    'catalog.json',
    'index.html',
    'index.html.gz',
    'assets/explore-0f3a5c7e9b1d2468.js',
    `${RELEASE}/index.html`,
    `${RELEASE}/rankings-daily.json.gz`,
    TOMBSTONE,
    `${DATASET}/daily/2025-03-09/r1.json`,
    `${DATASET}/latest/rankings-daily.csv`,
    `${DATASET}/releases/index.json`,
    '.tokenboard-export/list.json',
  ]

  async function publish(there: readonly string[], content = '{}', path = `:${PATH}`) {
    const folder = await temporaryFolder()
    for (const file of SITE) {
      await mkdir(dirname(join(folder, 'site', file)), { recursive: true })
      await writeFile(join(folder, 'site', file), content)
    }
    await writeFile(join(folder, 'there'), there.map((each) => `${each}\n`).join(''))
    await writeFile(join(folder, 'rclone'), RCLONE)
    await chmod(join(folder, 'rclone'), 0o755)
    const env = { PATH: `${path === '' ? '' : folder}${path}`, FOLDER: folder }
    const words = ['deploy/bucket/publish.sh', join(folder, 'site'), 'r2:data']
    const { status, stderr } = spawnSync('/bin/sh', words, { cwd: REPOSITORY, env, encoding: 'utf8' })
    const asked = existsSync(join(folder, 'asked')) ? readFileSync(join(folder, 'asked'), 'utf8').trimEnd() : ''
    return { status, stderr, asked: asked.split('\n') }
  }

  const UPLOADS = [
    'copy max-age=31536000',
    'assets/explore-0f3a5c7e9b1d2468.js',
    `${DATASET}/daily/2025-03-09/r1.json`,
    `${RELEASE}/rankings-daily.json.gz`,
    'copy max-age=60',
    TOMBSTONE,
    `${RELEASE}/index.html`,
    'index.html',
    'copy max-age=60',
    `${DATASET}/latest/rankings-daily.csv`,
    `${DATASET}/releases/index.json`,
    'copy max-age=60',
    'catalog.json',
  ]
  const BESIDE = ['notes.html', '.well-known/security.txt', 'datasets/other/rows.csv', `${DATASET}/.hidden`]

  it('uploads by cache class, pointers last, and deletes at the end what no build has', async () => {
    const { status, stderr, asked } = await publish([TOMBSTONE, GONE, ...BESIDE])
    expect([status, stderr, asked]).toEqual([0, '', [...UPLOADS, 'delete ', GONE]])
  })

  it('deletes first after a withdrawal', async () => {
    expect((await publish([GONE, ...BESIDE])).asked).toEqual(['delete ', GONE, ...UPLOADS])
  })

  it('calls no release of the sample immutable', async () => {
    const { asked } = await publish([], '"synthetic": true')
    expect(asked.slice(0, 3)).toEqual([...UPLOADS.slice(0, 2), 'copy max-age=60'])
  })

  it('refuses a stopped export, and says what to install where rclone is missing', async () => {
    expect(await publish([], '"content": null')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('stopped'),
    })
    const without = await publish([], '{}', '')
    expect(without).toMatchObject({ status: 2, stderr: expect.stringContaining('apt-get install rclone') })
  })
})
