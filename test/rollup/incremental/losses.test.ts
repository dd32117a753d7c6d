/** Files that vanish, shrink, grow and come back in any order: what `keep` keeps, and what `remove` leaves. */
import { rm } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { atMinute, Gateway } from '../../support/gateway.ts'
import { expectedDataset, type RawRecord } from '../../support/oracle.ts'
import { createWorkspace, publishedCsv, removeWorkspace } from '../../support/pipeline.ts'
import { tries } from '../../support/property.ts'
import { rawRecord } from '../../support/records.ts'

const BUILDS = 5
const TRIES = tries({ share: 1 / 3 })
const ENDINGS = ['csv', 'csv.gz', 'ndjson', 'ndjson.zst', 'parquet']

/** What happens to a file before a build; a file that grows holds what it held, in another order, and `size` more. */
type Step = { does: 'stay' | 'grow' | 'shrink' | 'vanish' | 'return'; size: number }

interface LifeOfFile {
  ending: string
  records: RawRecord[]
  steps: Step[]
}

const record = fc
  .record({
    timestamp: fc.constantFrom('2025-03-02T12:00:00Z', '2025-03-02T12:00:01Z', '2025-03-03T00:00:00Z'),
    model_permaslug: fc.constantFrom('acme/one', 'acme/two', 'acme/three'),
    prompt_tokens: fc.nat(9).map((tokens) => String(1 + tokens)),
    request_id: fc.nat(11).map((id) => `id-${id}`),
  })
  .map((fields) => rawRecord({ ...fields, completion_tokens: '0' }))

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('stay', 'grow', 'grow', 'shrink', 'vanish', 'return'),
  size: fc.integer({ min: 1, max: 3 }),
})

const life: fc.Arbitrary<LifeOfFile> = fc.record({
  ending: fc.constantFrom(...ENDINGS),
  records: fc.array(record, { minLength: 12, maxLength: 12 }),
  steps: fc.array(step, { minLength: BUILDS, maxLength: BUILDS }),
})

/** The records of a file before each build; undefined where there is no file. */
function contents({ records, steps }: LifeOfFile): (RawRecord[] | undefined)[] {
  let waiting = records
  let held: RawRecord[] = []
  let isHere = false
  return steps.map(({ does, size }) => {
    if (does === 'grow') {
      held = [...waiting.slice(0, size), ...held]
      waiting = waiting.slice(size)
      isHere = true
    }
    if (does === 'shrink' && isHere) held = held.slice(size)
    if (does === 'vanish') isHere = false
    if (does === 'return' && held.length > 0) isHere = true
    return isHere ? held : undefined
  })
}

async function arrange(gateway: Gateway, lives: LifeOfFile[], build: number): Promise<void> {
  for (const [file, each] of lives.entries()) {
    const name = `${file}.${each.ending}`
    const [before, now] = [contents(each)[build - 1], contents(each)[build]]
    if (now === undefined) await rm(gateway.path(name), { force: true })
    else if (JSON.stringify(now) !== JSON.stringify(before)) {
      await gateway.deliver(
        name,
        now.map((raw) => ({ ...raw })),
      )
    }
  }
}

/** The dataset of these records, all of one public source. */
function datasetOf(records: RawRecord[]): { csv: string; isEmpty: boolean } {
  const { csv, rows } = expectedDataset([{ visibility: 'public', timezone: 'UTC', records }], [], atMinute(BUILDS))
  return { csv, isEmpty: rows.length === 0 }
}

/** Every record that the builds up to this one have found on the disk, and every one that this one finds. */
function everSeen(lives: LifeOfFile[], build: number): RawRecord[] {
  return lives.flatMap((each) =>
    contents(each)
      .slice(0, build + 1)
      .flatMap((held) => held ?? []),
  )
}

function onDisk(lives: LifeOfFile[], build: number): RawRecord[] {
  return lives.flatMap((each) => contents(each)[build] ?? [])
}

async function expectEveryBuild(
  mode: string,
  given: { lives: LifeOfFile[]; forgets: boolean[] },
  expected: (lives: LifeOfFile[], build: number) => RawRecord[],
): Promise<void> {
  const gateway = new Gateway(await createWorkspace())
  try {
    await gateway.configure({ on_missing: mode })
    for (let build = 0; build < BUILDS; build += 1) {
      await arrange(gateway, given.lives, build)
      const { csv, isEmpty } = datasetOf(expected(given.lives, build))
      if (isEmpty) {
        expect(await gateway.failure(), `build ${build}`).toMatch(/publish/)
        continue
      }
      await gateway.build()
      expect(await publishedCsv(gateway.workspace), `build ${build}`).toBe(csv)
      if (!given.forgets[build]) continue
      await gateway.forget()
      await gateway.build()
      expect(await publishedCsv(gateway.workspace), `build ${build}, its state thrown away`).toBe(csv)
    }
  } finally {
    await removeWorkspace(gateway.workspace)
  }
}

const history = fc.record({
  lives: fc.array(life, { minLength: 2, maxLength: 3 }),
  forgets: fc.array(fc.boolean(), { minLength: BUILDS, maxLength: BUILDS }),
})

it.each([
  ['keep', 'every record that was ever there', everSeen],
  ['remove', 'every record that is there', onDisk],
] as const)(
  'on_missing `%s` publishes %s, once',
  async (mode, _, expected) => {
    await fc.assert(
      fc.asyncProperty(history, (given) => expectEveryBuild(mode, given, expected)),
      TRIES.options,
    )
  },
  TRIES.timeout_ms,
)
