/**
 * Nothing that goes wrong at any one effect of a build loses or breaks what is published: a lost machine, a torn write, an
 * error of the disk, a full one, a read-only one, a clock that steps back. Here some effects of builds are tried, chosen by
 * PROPERTY_SEED; `make soak` tries each one, of other commands too, and real kills.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { testApp } from '../support/app.ts'
import { SCENARIOS } from '../support/fault-scenarios.ts'
import { haveFail, loseMachines, makeReady, type Ready } from '../support/fault-trials.ts'
import { FAULTS, withEffects } from '../support/faults.ts'
import { newGateway, useOn } from '../support/gateway.ts'
import { buildIn, removeWorkspace, snapshotTree } from '../support/pipeline.ts'
import { Reader } from '../support/reader.ts'

const { PROPERTY_SEED = '0' } = process.env

/** Every effect whose number leaves the same rest as the seed. */
function everyOne(of: number): (effect: number) => boolean {
  return (effect) => effect % of === Number(PROPERTY_SEED) % of
}

/** The same and the last effect: the new release becomes current only a few effects before it. */
function everyOneAndTheLast(of: number, { effects }: Ready): (effect: number) => boolean {
  return (effect) => everyOne(of)(effect) || effect === effects
}

const [build] = SCENARIOS
if (build === undefined) throw new Error('there is no build')
const BOTH = new Set(['20250310T110000Z', '20250310T130000Z'])

describe('a build', () => {
  let ready: Ready
  beforeAll(async () => {
    ready = await makeReady(build)
  })
  afterAll(() => ready?.remove())

  it('leaves a complete release current when the machine is lost, and the next build completes the rest', async () => {
    expect(ready.effects).toBeGreaterThan(150)
    // Files that are kept or back move between state and archive: some of those moments too.
    let archived = 0
    const isKept = (paths: string[]) => paths.some((path) => path.includes('/archive/files/')) && archived++ % 4 === 0
    const { times, current } = await loseMachines(
      ready,
      (number, { paths }) => everyOneAndTheLast(60, ready)(number) || isKept(paths),
    )
    expect(archived).toBeGreaterThan(4)
    expect(times).toBeGreaterThan(8)
    expect(current).toEqual(BOTH)
  })

  it.each(FAULTS)('reports a failure with %s and leaves a complete release current', async (fault) => {
    expect((await haveFail(ready, fault, everyOne(110))).times).toBeGreaterThan(1)
  })

  it('never gives a torn or mixed answer to readers of a server', async () => {
    const workspace = await build.prepare()
    onTestFinished(() => removeWorkspace(workspace))
    const { app, authorized } = await testApp({
      publicDir: workspace.publicDir,
      asOf: new Date('2025-03-10T13:00:00Z'),
    })
    const reader = new Reader(async (path) => {
      const { statusCode, headers, rawPayload } = await app.inject({ url: path, headers: authorized })
      return { status: statusCode, etag: headers.etag, body: rawPayload }
    })
    const read = async () => {
      await app.releases.check()
      await reader.read()
    }
    let effects = 0
    await withEffects(
      async ({ paths }, take) => {
        effects += 1
        // Around each step that a reader may notice, and now and then.
        if (effects % 8 === 0 || /\/(latest|releases)[^/]*$|index\.json$/.test(paths.at(-1) ?? '')) await read()
        await take()
      },
      (files) => build.run(workspace, files),
    )
    await read()
    expect(reader.states('/datasets/rankings-daily/v1/latest.json')).toBe(2)
    expect(reader.answers).toBeGreaterThan(200)
  })
})

it.each(SCENARIOS.filter(({ name }) => name === 'new chain' || name === 'withdraw'))(
  'a $name leaves a complete release current when the machine is lost, and the next command completes the rest',
  async (scenario) => {
    const ready = await makeReady(scenario)
    onTestFinished(() => ready.remove())
    expect((await loseMachines(ready, everyOneAndTheLast(130, ready))).current).toEqual(BOTH)
  },
)

it('a clock that was set back stops the next build until it is right again', async () => {
  const gateway = await newGateway()
  await gateway.deliver('a.csv', [useOn('2025-03-03', 'acme/one', 1)])
  const at = (time: string) => ({ now: () => new Date(time) })
  await buildIn(gateway.workspace, '', at('2025-03-10T12:00:00Z'))
  const before = await snapshotTree(gateway.workspace.publicDir)
  await gateway.deliver('b.csv', [useOn('2025-03-04', 'acme/two', 2)])
  await expect(buildIn(gateway.workspace, '', at('2025-03-10T11:59:59Z'))).rejects.toThrow(
    /AS_OF 2025-03-10T11:59:59Z is before that of the newest release, 2025-03-10T12:00:00Z; .* check the clock/,
  )
  expect(await snapshotTree(gateway.workspace.publicDir)).toEqual(before)
  expect((await buildIn(gateway.workspace, '', at('2025-03-10T12:00:01Z'))).outcome).toBe('released')
})
