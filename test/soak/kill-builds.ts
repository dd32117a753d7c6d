import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { verify } from '../../pipeline/publication/verify.ts'
import { assertWhole } from '../support/fault-trials.ts'
import { atMinute, Gateway, inputAlone, useOn } from '../support/gateway.ts'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  REPOSITORY,
  removeWorkspace,
  settings,
  type Workspace,
} from '../support/pipeline.ts'
import { Reader } from '../support/reader.ts'
import type { Figure, SoakOptions } from './part.ts'
import { serve } from './serving.ts'

const CLI = join(REPOSITORY, 'pipeline/cli.ts')
const KILLS_PER_DATASET = 10
const RECORDS_PER_FILE = 90
const READER_PAUSE_MS = 100
const DATES = ['2025-03-03', '2025-03-04', '2025-03-05', '2025-03-06']

interface Counts {
  kills: number
  /** Kills after which the new release was in place, though not all that follows it. */
  inPlace: number
  /** Builds that came to their end before they were killed. */
  escaped: number
  answers: number
}

/**
 * Kills builds at random moments, as processes of their own, while a server has the folder open and somebody reads from
 * it without a pause. Whatever a kill left, the next build has to end well, and the numbers to be those of one build.
 */
export async function killBuilds(kills: number, { seed, signal, report }: SoakOptions): Promise<Figure[]> {
  const moments = fc.sample(fc.double({ min: 0.2, max: 1, noNaN: true }), { numRuns: kills * 2, seed })
  const counts: Counts = { kills: 0, inPlace: 0, escaped: 0, answers: 0 }
  while (counts.kills < kills) {
    const wanted = Math.min(KILLS_PER_DATASET, kills - counts.kills)
    await killBuildsOfOne(wanted, moments, counts, signal).catch((error: Error) => {
      throw new Error(`seed ${seed}, kill ${counts.kills}: ${error.message}`, { cause: error })
    })
    report(`killed ${counts.kills} of ${kills} builds`)
  }
  return [
    { what: 'builds killed with kill -9 at random moments', value: `${counts.kills}` },
    { what: 'of them with the new release in place, which the next build completed', value: `${counts.inPlace}` },
    { what: 'answers read from a server meanwhile, none torn or mixed', value: `${counts.answers}` },
  ]
}

async function killBuildsOfOne(wanted: number, moments: number[], counts: Counts, signal: AbortSignal): Promise<void> {
  const gateway = new Gateway(await createWorkspace())
  const { workspace } = gateway
  const last = counts.kills + wanted
  try {
    await gateway.configure({ on_missing: 'keep' })
    await gateway.deliver('0.csv', records(0))
    const duration = await durationOfBuild(workspace, gateway.later())
    const reading = await readWithoutPause(workspace)
    try {
      for (let file = 1; counts.kills < last; file += 1) {
        signal.throwIfAborted()
        await gateway.deliver(`${file}.csv`, records(file))
        if (file > 3) await gateway.takeAway(`${file - 3}.csv`)
        const asOf = gateway.later()
        const delay = duration * (moments.shift() ?? 0.5)
        const isKilled = await killAfter(workspace, asOf, delay)
        const moment = `killed after ${Math.round(delay)} ms of the build of ${workspace.root} as of ${asOf}`
        const current = await assertWhole(workspace).catch((error) => assert.fail(`${moment}: ${error}`))
        const isInPlace = (await releases(workspace)).includes(asOf.replaceAll(/[-:]/g, ''))
        if (isKilled) counts.kills += 1
        else counts.escaped += 1
        if (isKilled && isInPlace) counts.inPlace += 1
        assert(isKilled || current === asOf.replaceAll(/[-:]/g, ''), moment)
        await mend(workspace, gateway.later()).catch((error: unknown) => assert.fail(`${moment}: ${error}`))
        reading.assertGoingOn()
      }
    } finally {
      counts.answers += await reading.end()
    }
    await assertNumbers(workspace)
    await removeWorkspace(workspace)
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error} (its folder stays: ${workspace.root})`, {
      cause: error,
    })
  }
}

/** Records of which every third comes in each other file again. */
function records(file: number) {
  return Array.from({ length: RECORDS_PER_FILE }, (_, index) =>
    useOn(DATES[(index + file) % DATES.length] ?? '', `acme/model-${index % 60}`, 1 + index, {
      request_id: index % 3 === 0 ? `shared-${index}` : `${file}-${index}`,
    }),
  )
}

function environment(workspace: Workspace, asOf: string) {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, ...settings(workspace, asOf) }
}

/** Builds in a process of its own and says how long it took, in milliseconds. */
async function durationOfBuild(workspace: Workspace, asOf: string): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, [CLI, 'build'], { env: environment(workspace, asOf), stdio: 'ignore' })
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
  return performance.now() - began
}

async function mend(workspace: Workspace, asOf: string): Promise<void> {
  await buildIn(workspace, asOf)
  await verify(workspace.publicDir, { signal: new AbortController().signal, report: () => {} })
}

/** False when the build came to its end before. */
async function killAfter(workspace: Workspace, asOf: string, delay_ms: number): Promise<boolean> {
  const child = spawn(process.execPath, [CLI, 'build'], { env: environment(workspace, asOf), stdio: 'ignore' })
  const closed = once(child, 'close')
  await Promise.race([sleep(delay_ms), closed])
  child.kill('SIGKILL')
  const [, killedBy] = await closed
  return killedBy === 'SIGKILL'
}

async function releases({ publicDir }: Workspace): Promise<string[]> {
  return readdir(join(publicDir, 'datasets/rankings-daily/v1/releases'))
}

/** A server of its own process, and a reader of it that stops at the first wrong answer. */
async function readWithoutPause(workspace: Workspace) {
  const { publicDir, dataDir } = workspace
  const server = await serve({ publicDir, dataDir }, { AS_OF: atMinute(0, '2025-03-11') })
  const reader = new Reader(async (path) => {
    const headers = { authorization: `Bearer ${server.key}`, 'accept-encoding': 'identity' }
    const answer = await fetch(server.url + path, { headers })
    const body = Buffer.from(await answer.arrayBuffer())
    return { status: answer.status, etag: answer.headers.get('etag') ?? undefined, body }
  })
  let isOver = false
  let wrong: unknown
  const reading = (async () => {
    while (!isOver) {
      await reader.read()
      // The machine is there for the builds too.
      await sleep(READER_PAUSE_MS)
    }
  })().catch((error: unknown) => {
    wrong = error
  })
  const assertGoingOn = () => assert.equal(wrong, undefined, `the reader: ${wrong}`)
  return {
    assertGoingOn,
    /** Returns how many answers were read. */
    async end(): Promise<number> {
      isOver = true
      await reading
      await server.kill()
      assertGoingOn()
      return reader.answers
    },
  }
}

/** The rows are those of one build of all files there ever were. */
async function assertNumbers(workspace: Workspace): Promise<void> {
  const fresh = await inputAlone(workspace)
  const gateway = new Gateway(fresh)
  const highest = Math.max(...(await readdir(join(fresh.input, 'raw'))).map((name) => Number.parseInt(name, 10)))
  for (let file = 0; file <= highest; file += 1) await gateway.deliver(`${file}.csv`, records(file))
  await buildIn(fresh, atMinute(0))
  assert.equal(await publishedCsv(workspace), await publishedCsv(fresh))
  await removeWorkspace(fresh)
}
