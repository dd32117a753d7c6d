import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { verify } from '../../pipeline/publication/verify.ts'
import { SCENARIOS } from '../support/fault-scenarios.ts'
import { assertWhole, haveFail, loseMachines, makeReady } from '../support/fault-trials.ts'
import { FAULTS } from '../support/faults.ts'
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
import { serveTokenboard } from '../support/server-process.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const KILLS = 200
const KILLS_PER_DATASET = 10
const RECORDS_PER_FILE = 90
const READER_PAUSE_MS = 100
const DATES = ['2025-03-03', '2025-03-04', '2025-03-05', '2025-03-06']

export const part: SoakPart = {
  promise:
    'Whatever stops a build, an archive, a withdrawal or an export, a whole release is current, and the next command mends the rest.',
  async run(options) {
    return [...(await interruptAtEffects(options)), ...(await killBuilds(shareOf(KILLS, options), options))]
  },
}

/** At each chosen effect of each command the machine is lost, before it and amid it, and one fault begins. */
async function interruptAtEffects({ seed, share, signal, report }: SoakOptions): Promise<Figure[]> {
  const stride = Math.max(1, Math.round(1 / share))
  const figures: Figure[] = []
  for (const scenario of SCENARIOS) {
    const ready = await makeReady(scenario)
    const isChosen = (effect: number) => {
      signal.throwIfAborted()
      return (effect + seed) % stride === 0
    }
    try {
      const { times } = await loseMachines(ready, isChosen)
      let failed = 0
      for (const [kind, fault] of FAULTS.entries()) {
        const isOfKind = (effect: number) => isChosen(effect) && Math.floor(effect / stride) % FAULTS.length === kind
        failed += (await haveFail(ready, fault, isOfKind)).times
      }
      report(`${scenario.name}: lost ${times} machines, had ${failed} effects fail`)
      const lost = `${scenario.name}: machines lost before or amid an effect, of ${ready.effects} effects`
      figures.push({ what: lost, value: `${times}` })
      figures.push({ what: `${scenario.name}: effects that failed with ${FAULTS.join(', ')}`, value: `${failed}` })
    } finally {
      await ready.remove()
    }
  }
  return figures
}

interface Counts {
  kills: number
  /** Kills after which the new release was in place, though not everything that follows it. */
  inPlace: number
  answers: number
}

/**
 * Kills builds at random moments, as processes of their own, while a server has the folder open and somebody reads from
 * it without a pause. The next build must succeed, and the numbers must be those of one build.
 */
export async function killBuilds(kills: number, { seed, signal, report }: SoakOptions): Promise<Figure[]> {
  const moments = fc.sample(fc.double({ min: 0.2, max: 1, noNaN: true }), { numRuns: kills * 2, seed })
  const counts: Counts = { kills: 0, inPlace: 0, answers: 0 }
  while (counts.kills < kills) {
    const workspace = await createWorkspace()
    try {
      await killBuildsIn(workspace, Math.min(kills, counts.kills + KILLS_PER_DATASET), { moments, counts, signal })
    } catch (error) {
      // The folder stays for whoever looks into it.
      throw new Error(`kill ${counts.kills}, in ${workspace.root}: ${error}`, { cause: error })
    }
    await removeWorkspace(workspace)
    report(`killed ${counts.kills} of ${kills} builds`)
  }
  return [
    { what: 'builds killed with kill -9 at random moments', value: `${counts.kills}` },
    { what: 'of them with the new release in place, which the next build completed', value: `${counts.inPlace}` },
    { what: 'answers read from a server meanwhile, none torn or mixed', value: `${counts.answers}` },
  ]
}

interface Kills {
  moments: number[]
  counts: Counts
  signal: AbortSignal
}

async function killBuildsIn(workspace: Workspace, last: number, { moments, counts, signal }: Kills): Promise<void> {
  const gateway = new Gateway(workspace)
  await gateway.configure({ on_missing: 'keep' })
  await gateway.deliver('0.csv', records(0))
  const began = performance.now()
  assert.equal(await buildUntil(workspace, gateway.later(), Number.POSITIVE_INFINITY), 'ended')
  const duration = performance.now() - began
  const reading = await readWithoutPause(workspace)
  try {
    for (let file = 1; counts.kills < last; file += 1) {
      signal.throwIfAborted()
      await gateway.deliver(`${file}.csv`, records(file))
      if (file > 3) await gateway.takeAway(`${file - 3}.csv`)
      const asOf = gateway.later()
      const release = asOf.replaceAll(/[-:]/g, '')
      const delay = duration * (moments.shift() ?? 0.5)
      const isKilled = (await buildUntil(workspace, asOf, delay)) === 'killed'
      try {
        const current = await assertWhole(workspace)
        if (!isKilled) assert.equal(current, release)
        const names = await readdir(join(workspace.publicDir, 'datasets/rankings-daily/v1/releases'))
        if (isKilled) counts.kills += 1
        if (isKilled && names.includes(release)) counts.inPlace += 1
        await buildIn(workspace, gateway.later())
        await verify(workspace.publicDir, { signal: new AbortController().signal, report: () => {} })
      } catch (error) {
        throw new Error(`killed after ${Math.round(delay)} ms of the build as of ${asOf}: ${error}`, { cause: error })
      }
      reading.assertGoingOn()
    }
  } finally {
    counts.answers += await reading.end()
  }
  await assertNumbers(workspace)
}

/** Records of which every third comes again in each other file. */
function records(file: number) {
  return Array.from({ length: RECORDS_PER_FILE }, (_, index) =>
    useOn(DATES[(index + file) % DATES.length] ?? '', `acme/model-${index % 60}`, 1 + index, {
      request_id: index % 3 === 0 ? `shared-${index}` : `${file}-${index}`,
    }),
  )
}

/** Builds in a process of its own, which is killed after so long. */
async function buildUntil(workspace: Workspace, asOf: string, delayMs: number): Promise<'killed' | 'ended'> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, ...settings(workspace, asOf) }
  const child = spawn(process.execPath, [join(REPOSITORY, 'pipeline/cli.ts'), 'build'], { env, stdio: 'ignore' })
  const closed = once(child, 'close')
  await Promise.race(Number.isFinite(delayMs) ? [sleep(delayMs), closed] : [closed])
  child.kill('SIGKILL')
  const [code, signal] = await closed
  assert(signal === 'SIGKILL' || code === 0, `the build ended with ${code}`)
  return signal === 'SIGKILL' ? 'killed' : 'ended'
}

/** A server of its own process, and a reader of it that stops at the first wrong answer. */
async function readWithoutPause(workspace: Workspace) {
  const server = await serveTokenboard(workspace, { AS_OF: atMinute(0, '2025-03-11') })
  const reader = new Reader(async (path) => {
    const headers = { authorization: `Bearer ${server.key}`, 'accept-encoding': 'identity' }
    const answer = await fetch(server.url + path, { headers })
    const body = Buffer.from(await answer.arrayBuffer())
    return { status: answer.status, etag: answer.headers.get('etag') ?? undefined, body }
  })
  let isOver = false
  let wrong: unknown
  const read = async () => {
    while (!isOver) {
      await reader.read()
      // Leave some of the machine to the builds.
      await sleep(READER_PAUSE_MS)
    }
  }
  const reading = read().catch((error: unknown) => (wrong = error))
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
