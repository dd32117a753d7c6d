/** The drill of docs/operations.md: lose the machine, restore everything from a backup by the documented lines, and go on. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PRESETS } from '../support/presets.ts'
import { writePublisher } from '../support/publisher.ts'
import { cloneProject, environment, run, serve } from './clone.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(REPOSITORY, 'docs/operations.md'), 'utf8')
const [, LINES = ''] = /### After losing the machine\n.*?```sh\n(.*?)```/s.exec(PAGE) ?? []

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'
const AS_OF = '2025-03-10T12:00:00Z'

let clone: string
let elsewhere: string

beforeAll(async () => {
  clone = cloneProject()
  await shareInstalled(clone)
  elsewhere = await mkdtemp(join(tmpdir(), 'tokenboard-drill-'))
})
afterAll(async () => {
  for (const folder of [dirname(clone), elsewhere]) await rm(folder, { recursive: true, force: true })
})

/** Installing is what other tests do. Where nothing is installed, make does it here, too. */
async function shareInstalled(folder: string): Promise<void> {
  const installed = join(REPOSITORY, 'node_modules')
  if (!existsSync(join(installed, '.installed'))) return
  await symlink(installed, join(folder, 'node_modules'))
  for (const name of ['package.json', 'package-lock.json']) await utimes(join(folder, name), 0, 0)
}

/** Runs lines in the clone, which must succeed. */
async function shell(lines: string, asOf = AS_OF): Promise<{ stdout: string; stderr: string }> {
  const { code, ...written } = await run('sh', ['-euc', lines], { cwd: clone, env: environment({ AS_OF: asOf }) })
  expect(code, `${lines}\n${written.stderr}`).toBe(0)
  return written
}

async function writeDay(day: string): Promise<void> {
  await writeFile(join(elsewhere, `logs/${day}.csv`), `${HEADER}${day}T10:00:00Z,acme/one,1000,10\n`)
}

async function published(): Promise<string> {
  return readFile(join(clone, 'public/datasets/rankings-daily/v1/latest/rankings-daily.csv'), 'utf8')
}

async function releases(): Promise<{ release: string; hash: string }[]> {
  const path = join(clone, 'public/datasets/rankings-daily/v1/releases/index.json')
  return JSON.parse(await readFile(path, 'utf8')).releases
}

/** Asks a server for the presets of a key. */
async function slugs(url: string, key: string): Promise<string[]> {
  const answer = await fetch(url + PRESETS, { headers: { authorization: `Bearer ${key}` } })
  return ((await answer.json()) as { data: { slug: string }[] }).data.map(({ slug }) => slug)
}

it('a machine is lost, restored from its backup by the documented lines, and goes on in the same chain', async () => {
  await mkdir(join(elsewhere, 'logs'))
  const source = { name: 'gateway', schema: 'canonical', files: [join(elsewhere, 'logs/*.csv')], visibility: 'public' }
  await writePublisher(join(clone, 'data'))
  await writeFile(join(clone, 'data/sources.json'), JSON.stringify({ sources: [source] }))
  for (const day of ['2025-03-01', '2025-03-02', '2025-03-09']) await writeDay(day)
  await shell('make build')
  await shell('make archive ARGS="--before 2025-03-02"')
  await rm(join(elsewhere, 'logs/2025-03-01.csv'))

  const server = await serve(clone, 3)
  const key = server.lines[1]?.replace('key ', '') ?? ''
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'acme/one', messages: [] })
  const made = await fetch(`${server.url}${PRESETS}/agent/messages`, { method: 'POST', headers, body })
  expect(made.status).toBe(200)

  const backups = join(elsewhere, 'backups')
  await shell(`deploy/backup.sh '${backups}' 30`)
  const [name = ''] = await readdir(backups)
  const lines = LINES.replace('/backups/20261121T234000Z', join(backups, name))
  expect(lines).not.toBe(LINES)
  const refused = await run('make', ['store', `ARGS=restore ${join(backups, name)}/store.sqlite`], {
    cwd: clone,
    env: environment(),
  })
  expect(refused.stderr).toMatch(/a server or another command has .*store\.sqlite open; stop it/)
  expect(await slugs(server.url, key)).toEqual(['agent'])
  server.signal('SIGTERM')
  await server.ended

  const before = { rows: await published(), releases: await releases() }
  expect(before.rows.split('\n')).toHaveLength(5)
  for (const lost of ['data', 'public']) await rm(join(clone, lost), { recursive: true })
  // What an installation brings.
  await shell('git checkout --quiet -- data')
  const { stderr } = await shell(lines)
  expect(stderr).toMatch(/restored .*store\.sqlite.*verified 1 release.*nothing changed/s)
  expect({ rows: await published(), releases: await releases() }).toEqual(before)

  const restored = await serve(clone, 1)
  expect(await slugs(restored.url, key)).toEqual(['agent'])
  restored.signal('SIGTERM')
  await restored.ended

  await writeDay('2025-03-10')
  await shell('make build\nmake verify', '2025-03-11T12:00:00Z')
  expect(await published()).toContain('2025-03-01,acme/one,1010\n')
  expect(await published()).toContain('2025-03-10,acme/one,1010\n')
  expect((await releases()).map(({ hash }) => hash).slice(0, -1)).toEqual(before.releases.map(({ hash }) => hash))
})
