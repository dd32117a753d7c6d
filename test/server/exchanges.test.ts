/**
 * HTTP exchanges as text: `test/server/exchanges/<operation>.http`. A `##` heading is a test with a server of its own.
 *
 * - `@app {…}` on the first line sets options of the server: `rateLimits`, `trustProxy` and `asOf`.
 * - `@key NAME {…}` makes a key, `@revoke NAME` ends it, `@usage NAME {…}` adds a usage row of it, `@models N` a catalogue of N models,
 *   `@release {…}` a release, `@file PATH TEXT` and `@gzip PATH TEXT` published files, `@link PATH TARGET` a link, `@index` the index of the releases, `@withdraw NAME` a tombstone in place of a release, `@drop NAME` takes its data files, `@history` the history of the releases,
 *   `@clock INSTANT` sets the clock, from there on.
 * - `GET /path as NAME` is a request, with lines `> header: value` and `>> body`. In them, `{x*300}` means `x` repeated
 *   300 times, and `{key NAME}` the key of that name. All published files are of one instant.
 * - The answer follows: `< status`, `< header: value`, `<< body`. Ids and labels are numbered, long lists shortened.
 *
 * `RECORD=1 make test ARGS=test/server/exchanges` writes the answers anew: read the difference before you commit it.
 */
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { NO_RATE_LIMITS } from '../../server/api/rate-limits.ts'
import type { AppDependencies } from '../../server/app.ts'
import type { RateLimitSettings } from '../../server/base/config.ts'
import { embeddingsCatalogue } from '../../server/store/embeddings-models.ts'
import { hashKey, type NewKey } from '../../server/store/keys.ts'
import { keySpend } from '../../server/store/usage.ts'
import { NOW, type TestApp, testApp } from '../support/app.ts'
import { someModels } from '../support/embeddings-models.ts'
import { FOLDER, publish, type Row, sampleRows } from '../support/publish.ts'
import { writeHistory } from '../support/published-history.ts'
import { drop, withdraw, writeIndex } from '../support/release-index.ts'
import { type UsageRow, usageRow } from '../support/usage.ts'

const EXCHANGES = join(import.meta.dirname, 'exchanges')
const { RECORD } = process.env

describe.each(readdirSync(EXCHANGES).map((file) => file.replace('.http', '')))('%s', (operation) => {
  const path = join(EXCHANGES, `${operation}.http`)
  const { preamble, conversations } = readConversations(readFileSync(path, 'utf8'))

  for (const conversation of conversations) {
    test(conversation.title, async () => {
      const lines = await converse(conversation.lines)
      if (RECORD === undefined) expect(lines.join('\n')).toBe(conversation.lines.join('\n'))
      conversation.lines = lines
    })
  }

  afterAll(() => {
    if (RECORD !== undefined) writeFileSync(path, writeConversations(preamble, conversations))
  })
})

interface Conversation {
  title: string
  /** All its lines, but for the heading. */
  lines: string[]
}

/** The lines before the first heading, and the conversations. */
function readConversations(text: string): { preamble: string; conversations: Conversation[] } {
  const [preamble = '', ...parts] = text.split(/^## /m)
  const conversations = parts.map((part) => {
    const [title = '', ...lines] = part.trimEnd().split('\n')
    return { title, lines }
  })
  return { preamble, conversations }
}

function writeConversations(preamble: string, conversations: readonly Conversation[]): string {
  return preamble + conversations.map(({ title, lines }) => `## ${title}\n${lines.join('\n')}\n`).join('\n')
}

interface World extends TestApp {
  secrets: Map<string, string>
  usage: UsageRow[]
  setClock(now: Date): void
}

/** Has a conversation with a new server; returns its lines with the answers that came. */
async function converse(lines: readonly string[]): Promise<string[]> {
  let now = NOW
  const setup = await testApp({ clock: () => now, ...appOptions(lines[0] ?? '') })
  const setClock = (instant: Date) => (now = instant)
  const world: World = { ...setup, secrets: new Map(), usage: [], setClock }
  const shorten = shortener()
  const said: string[] = []
  const asked = lines.filter((line) => !line.startsWith('<'))
  for (let index = 0; index < asked.length; index++) {
    const line = asked[index] ?? ''
    said.push(line)
    if (line.startsWith('@')) await prepare(world, line)
    if (!/^[A-Z]+ /.test(line)) continue
    const details: string[] = []
    while (asked[index + 1]?.startsWith('>')) details.push(asked[++index] ?? '')
    said.push(...details, ...shorten(await ask(world, line, details)))
  }
  return said
}

function appOptions(line: string): Partial<AppDependencies> {
  if (!line.startsWith('@app ')) return {}
  const { rateLimits, asOf, ...options } = JSON.parse(line.slice('@app '.length)) as {
    rateLimits?: Partial<RateLimitSettings>
    trustProxy?: number
    asOf?: string
  }
  return {
    ...options,
    ...(rateLimits === undefined ? {} : { rateLimitSettings: { ...NO_RATE_LIMITS, ...rateLimits } }),
    ...(asOf === undefined ? {} : { asOf: new Date(asOf) }),
  }
}

/** Does what an `@` line says. */
async function prepare(world: World, line: string): Promise<void> {
  const [, what = '', rest = ''] = /^@(\S+) ?(.*)$/.exec(line) ?? []
  if (what === 'app') return
  const [, name = '', json = '{}'] = /^(\S*) ?(\{.*)?$/.exec(rest) ?? []
  const { publicDir, store } = world
  if (FILE_LINES.has(what)) await publishFiles(publicDir, what, rest)
  else if (what === 'key') {
    const { expiresAt, ...details } = JSON.parse(json) as NewKey & { expiresAt?: string }
    const expiry = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt) }
    world.secrets.set(name, await world.createKey({ ...details, ...expiry }))
  } else if (what === 'revoke') await revoke(world, name)
  else if (what === 'clock') world.setClock(new Date(rest))
  else if (what === 'models') await embeddingsCatalogue(store).replaceAll(someModels(Number(rest)))
  else if (what === 'usage')
    await addUsage(world, { api_key_hash: hashKey(secretOf(world, name)), ...JSON.parse(json) })
  else throw new Error(`${line} means nothing`)
}

const FILE_LINES = new Set(['file', 'gzip', 'link', 'release', 'index', 'withdraw', 'drop', 'history'])
const MODIFIED = new Date('2025-02-10T09:00:00Z')

async function publishFiles(publicDir: string, what: string, rest: string): Promise<void> {
  const [, name = '', text = ''] = /^(\S+) ?(.*)$/s.exec(expanded(rest)) ?? []
  const path = join(publicDir, name)
  if (what === 'file' || what === 'gzip' || what === 'link') await mkdir(dirname(path), { recursive: true })
  if (what === 'file') await writeFile(path, text)
  else if (what === 'gzip') await writeFile(path, gzipSync(text))
  else if (what === 'link') await symlink(text, path)
  else if (what === 'index') await writeIndex(publicDir)
  else if (what === 'withdraw') await withdraw(publicDir, rest)
  else if (what === 'drop') await drop(publicDir, rest)
  else if (what === 'history') await writeHistory(publicDir)
  else {
    await publishRelease(publicDir, JSON.parse(expanded(rest)))
  }
  for (const entry of await readdir(publicDir, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), MODIFIED, MODIFIED)
  }
}

interface ReleaseLine {
  asOf?: string
  attribution?: string
  rows?: Row[]
  /** Without rows: those of a sample. */
  days?: number
  models?: number
  scale?: number
  /** Whether it has weeks and months. */
  periods?: boolean
  /** The text of a file `data.csv` that the manifest lists with its gzip. */
  gzipped?: string
}

async function publishRelease(
  publicDir: string,
  { gzipped, rows, asOf, attribution, periods, ...sample }: ReleaseLine,
): Promise<void> {
  const texts = gzipped === undefined ? [] : [gzipped]
  const files = texts.flatMap((text) => [
    { path: 'data.csv', bytes: Buffer.from(text) },
    { path: 'data.csv.gz', bytes: gzipSync(text) },
  ])
  const release = await publish(publicDir, rows ?? sampleRows(sample), {
    ...(asOf === undefined ? {} : { asOf }),
    ...(attribution === undefined ? {} : { attribution }),
    ...(periods === undefined ? {} : { periods }),
    spoilManifest: (manifest) => {
      for (const { path, bytes } of files) {
        manifest.files.push({ path, media_type: 'text/csv', bytes: bytes.length, sha256: hash('sha256', bytes) })
      }
    },
  })
  for (const { path, bytes } of files) await writeFile(join(publicDir, FOLDER, 'releases', release, path), bytes)
}

async function revoke(world: World, name: string): Promise<void> {
  const hashed = hashKey(secretOf(world, name))
  const revoked_at = NOW.toISOString()
  await world.store.db.updateTable('api_keys').set({ revoked_at }).where('hash', '=', hashed).execute()
}

async function addUsage({ store, usage }: World, fields: Partial<UsageRow>): Promise<void> {
  usage.push(usageRow(fields))
  const days = [...Map.groupBy(usage, ({ date }) => date)].map(([date, ofDate]) => {
    return { digest: hash('sha256', JSON.stringify(ofDate)), read: () => ({ date, usage: ofDate }) }
  })
  await keySpend(store).replace(days)
}

function secretOf({ secrets }: World, name: string): string {
  const secret = secrets.get(name)
  if (secret === undefined) throw new Error(`there is no key ${name}`)
  return secret
}

type Answer = Awaited<ReturnType<TestApp['app']['inject']>>

async function ask(world: World, line: string, details: readonly string[]): Promise<Answer> {
  const [, method, target = '', name] = /^([A-Z]+) (.*?)(?: as (\S+))?$/.exec(line) ?? []
  const authorization = name === undefined ? {} : { authorization: `Bearer ${secretOf(world, name)}` }
  const fields = details.filter((detail) => detail.startsWith('> ')).map((detail) => detail.slice(2))
  const given = fields.map((field) => {
    const [key = '', ...value] = field.split(': ')
    return [key, expanded(withKeys(world, value.join(': ')))]
  })
  const body = details.find((detail) => detail.startsWith('>>'))?.slice(3)
  return world.app.inject({
    method: method as 'GET',
    url: expanded(withKeys(world, target)),
    headers: { ...authorization, ...Object.fromEntries(given) },
    ...(body === undefined ? {} : { payload: expanded(body) }),
  })
}

function withKeys(world: World, text: string): string {
  return text.replaceAll(/\{key (\S+?)\}/g, (_, owner: string) => secretOf(world, owner))
}

function expanded(text: string): string {
  return text.replaceAll(/\{(.)\*(\d+)\}/gu, (_, unit: string, count: string) => unit.repeat(Number(count)))
}

/** What answers have in common, and what differs from run to run. */
const USUAL: Record<string, RegExp> = {
  'x-content-type-options': /^nosniff$/,
  'cache-control': /^no-store$/,
  'cross-origin-resource-policy': /^cross-origin$/,
  'access-control-allow-origin': /^\*$/,
  'access-control-expose-headers': /^Accept-Ranges, .*, X-Request-Id(, X-Provisional-From)?$/,
  'content-type': /^application\/json; charset=utf-8$/,
  'x-request-id': /^[0-9a-f-]{36}$/,
  date: /./,
  connection: /./,
}
const VOLATILE = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|sk-tb-v1-[0-9a-f]{3}\.\.\.[0-9a-f]{3}/g
const KNOWN = '00000000-0000-4000-8000-000000000000'
const LONGEST_TEXT = 2150

/** Turns answers of one conversation into lines. The same id has the same number in all of them. */
function shortener(): (answer: Answer) => string[] {
  const numbers = new Map<string, number>()
  const named = (text: string) => {
    return text.replaceAll(VOLATILE, (id) => {
      if (id === KNOWN || id.startsWith('11111111-')) return id
      if (!numbers.has(id)) numbers.set(id, numbers.size + 1)
      return `<${id.startsWith('sk') ? 'label' : 'id'} ${numbers.get(id)}>`
    })
  }
  return ({ statusCode, headers, rawPayload }) => {
    const isShown = (name: string, value: string) => {
      return name === 'content-length' ? rawPayload.length === 0 && value !== '0' : !USUAL[name]?.test(value)
    }
    const shown = Object.entries(headers).filter(([name, value]) => isShown(name, String(value)))
    const body = rawPayload.length === 0 ? [] : [`<< ${named(textOf(rawPayload))}`]
    return [`< ${statusCode}`, ...shown.map(([name, value]) => `< ${name}: ${named(String(value))}`), ...body]
  }
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  const whole = `${bytes.length} bytes, sha256 ${hash('sha256', bytes)}`
  if (!Buffer.from(text).equals(bytes)) return whole
  if (text.length <= LONGEST_TEXT) return text.trimEnd().replaceAll('\n', '⏎')
  if (!text.startsWith('{"data":[')) return whole
  const { data, ...rest } = JSON.parse(text) as { data: unknown[] }
  const between = `${data.length - 2} more, sha256 ${hash('sha256', JSON.stringify(data))}`
  return JSON.stringify({ data: [data[0], between, data.at(-1)], ...rest })
}
