/** Builds that are killed, and builds that meet: what was kept from build to build survives. */
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { filesAfter } from '../../support/crash.ts'
import { atMinute, copyOf, Gateway, inputAlone, newGateway, useOn } from '../../support/gateway.ts'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  REPOSITORY,
  removeWorkspace,
  runProcess,
  settings,
} from '../../support/pipeline.ts'
import type { FileRecord } from '../../support/records.ts'

const DAYS = ['2025-03-02', '2025-03-03', '2025-03-04', '2025-03-05']

/** Many records of one file, of which every third is delivered by each other file again. */
function records(file: number): FileRecord[] {
  return Array.from({ length: 300 }, (_, index) =>
    useOn(DAYS[(index + file) % DAYS.length] ?? '', `acme/model-${index % 60}`, 1 + index + file, {
      request_id: index % 3 === 0 ? `shared-${index}` : `${file}-${index}`,
    }),
  )
}

/** A gateway that waits for its second build: a file more, a file grown, a file away. */
let waiting: Gateway
/** What that build comes to where nobody kills it. */
let ended: Ended

beforeAll(async () => {
  waiting = new Gateway(await createWorkspace())
  await waiting.configure({ on_missing: 'keep' })
  await waiting.deliver('0.csv.gz', records(0))
  await waiting.deliver('1.parquet', records(1))
  await waiting.deliver('2.ndjson', records(2).slice(0, 100))
  await waiting.build(atMinute(0))
  await waiting.takeAway('1.parquet')
  await waiting.deliver('2.ndjson', records(2))
  await waiting.deliver('3.csv.zst', records(3))
  ended = await buildToTheEnd(waiting)
})

afterAll(() => removeWorkspace(waiting.workspace))

interface Ended {
  csv: string
  /** How many there were at which it could have been killed. */
  moments: number
}

/** Builds what a gateway waits for, in another folder and to the end. */
async function buildToTheEnd({ workspace }: Gateway): Promise<Ended> {
  const other = await createWorkspace()
  await cp(workspace.root, other.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  let moments = 0
  const nextMoment = () => {
    moments += 1
  }
  await buildIn(other, atMinute(1), { report: nextMoment, files: filesAfter(nextMoment) })
  const csv = await publishedCsv(other)
  await removeWorkspace(other)
  return { csv, moments }
}

/** Runs a build that is killed at a moment; false when it came to its end before. */
function buildUntilKilled(gateway: Gateway, moment: number): Promise<boolean> {
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd: REPOSITORY, env: { PATH, HOME, ...settings(gateway.workspace, atMinute(1)) } }
  const program = join(REPOSITORY, 'test/support/killed-build.ts')
  return new Promise((done, fail) => {
    execFile(process.execPath, [program, String(moment)], options, (error, _, stderr) => {
      if (error === null) done(false)
      else if (error.signal === 'SIGKILL') done(true)
      else fail(new Error(stderr))
    })
  })
}

it('a build that was killed at any moment is made good by the next', async () => {
  const { csv, moments } = ended
  // `make soak` kills two hundred builds.
  for (const moment of [Math.ceil(moments / 2), moments]) {
    const gateway = await copyOf(waiting)
    expect(await buildUntilKilled(gateway, moment), `killed at moment ${moment}`).toBe(true)
    await gateway.build(atMinute(2))
    expect(await publishedCsv(gateway.workspace), `killed at moment ${moment} of ${moments}`).toBe(csv)
    await gateway.forget()
    await gateway.build(atMinute(3))
    expect(await publishedCsv(gateway.workspace), `killed at ${moment}, state thrown away`).toBe(csv)
    await removeWorkspace(gateway.workspace)
  }

  // `keep` has kept what the file that is away had: the rows are those of all the files.
  const fresh = new Gateway(await inputAlone(waiting.workspace))
  await fresh.deliver('1.parquet', records(1))
  await fresh.build(atMinute(1))
  expect(await publishedCsv(fresh.workspace)).toBe(ended.csv)
  await removeWorkspace(fresh.workspace)
})

it('of two builds at once the second says so and exits with 1, and the first is not disturbed', async () => {
  const gateway = await newGateway()
  await gateway.deliver('0.csv', records(0))
  let reached = () => {}
  let goOn = () => {}
  const isHeld = new Promise<void>((done) => {
    reached = done
  })
  const mayGoOn = new Promise<void>((done) => {
    goOn = done
  })
  // Its first step on the file system after it has made its folders; by then it has the lock.
  let steps = 0
  const files = filesAfter(async () => {
    steps += 1
    if (steps < 5) return
    reached()
    await mayGoOn
  })
  const first = gateway.build(atMinute(1), files)
  await isHeld
  try {
    const second = await runProcess(['build'], settings(gateway.workspace, atMinute(2)))
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/another build|already running|in use/i)
    expect(second.stderr).not.toMatch(/^\s+at /m)
    const archive = await runProcess(['archive', '--before', '2025-03-03'], settings(gateway.workspace, atMinute(2)))
    expect(archive.code).toBe(1)
  } finally {
    goOn()
  }
  expect((await first).summary).toMatchObject({ outcome: 'released', as_of: atMinute(1) })
  expect((await gateway.build(atMinute(3))).summary.outcome).toBe('unchanged')
})
