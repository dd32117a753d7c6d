import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { presets } from '../../../server/store/presets.ts'
import { openStore } from '../../../server/store/store.ts'
import { temporaryFolder } from '../../support/app.ts'
import { AUTHOR, type Message, PRESETS, VERSIONS_PER_PROCESS } from './preset-writer.ts'

const PROCESSES = 4
const VERSIONS_PER_PRESET = (PROCESSES * VERSIONS_PER_PROCESS) / PRESETS
const BEATS_WHILE_LOCKED = 20

/** Starts a process that writes to the store, and keeps what it says. */
function startWriter(path: string, name: string) {
  const child: ChildProcess = fork(join(import.meta.dirname, 'preset-writer.ts'), [path, name], { execArgv: [] })
  const said: Message[] = []
  const gone = Promise.withResolvers<never>()
  gone.promise.catch(() => {})
  child.on('message', (message: Message) => said.push(message))
  child.on('exit', (code, signal) => gone.reject(new Error(`${name} ended with ${code ?? signal}`)))
  onTestFinished(() => {
    child.kill('SIGKILL')
  })

  async function says<K extends Message['kind']>(kind: K, times = 1): Promise<Extract<Message, { kind: K }>> {
    const isSaid = (message: Message) => message.kind === kind
    while (said.filter(isSaid).length < times) {
      const { promise, resolve } = Promise.withResolvers<void>()
      child.once('message', () => resolve())
      await Promise.race([promise, gone.promise])
    }
    return said.find(isSaid) as Extract<Message, { kind: K }>
  }

  return { says, go: () => child.send('go') }
}

test('16 writers in 4 processes make versions 1..N of each preset, and no lock stops an event loop', async () => {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const store = await openStore(`sqlite:${path}`)
  const stored = presets(store, () => new Date())
  const other = new DatabaseSync(path)
  onTestFinished(async () => {
    other.close()
    await store.close()
  })
  const writers = Array.from({ length: PROCESSES }, (_, index) => startWriter(path, `process-${index}`))
  await Promise.all(writers.map((writer) => writer.says('ready')))

  // All of them wait for a lock that is held as long as it takes to see every event loop go on.
  other.exec('BEGIN IMMEDIATE')
  for (const writer of writers) writer.go()
  await Promise.all(writers.map((writer) => writer.says('beat', BEATS_WHILE_LOCKED)))
  expect(await stored.list(AUTHOR.workspace_id, { offset: 0, limit: 1 })).toEqual({ presets: [], totalCount: 0 })
  other.exec('COMMIT')

  const results = await Promise.all(writers.map((writer) => writer.says('done')))
  const acknowledged = results.flatMap((result) => result.acknowledged)
  expect(acknowledged).toHaveLength(PRESETS * VERSIONS_PER_PRESET)
  const readable = []
  for (let index = 0; index < PRESETS; index++) {
    const slug = `preset-${index}`
    const list = await stored.listVersions({ ...AUTHOR, slug }, { offset: 0, limit: VERSIONS_PER_PRESET + 1 })
    const versions = await Array.fromAsync(list?.versions ?? [])
    expect(versions.map(({ version }) => version)).toEqual(Array.from(versions, (_, at) => at + 1))
    readable.push(...versions.map(({ version, config: { model } }) => ({ slug, version, mark: model })))
  }
  const byMark = (a: { mark: unknown }, b: { mark: unknown }) => String(a.mark).localeCompare(String(b.mark))
  expect(readable.toSorted(byMark)).toEqual(acknowledged.toSorted(byMark))
})
