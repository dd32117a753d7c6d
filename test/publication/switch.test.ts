import { expect, it } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { isCoding } from '../../pipeline/contract/codings.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { wrongCodings } from '../support/codings.ts'
import { SCENARIOS, type Scenario } from '../support/fault-scenarios.ts'
import { assertWhole } from '../support/fault-trials.ts'
import { withEffects } from '../support/faults.ts'
import { copyWorkspace, removeWorkspace, snapshotTree, type Workspace } from '../support/pipeline.ts'

/** Something that happened while a command ran: a step on the file system, or a question to the database. */
interface Happening {
  name: string
  paths: string[]
}

/** Where a path lies below the public folder, unless it is hidden there. */
function publishedPath({ publicDir }: Workspace, path = ''): string | undefined {
  const below = path.startsWith(`${publicDir}/`) ? path.slice(publicDir.length + 1) : undefined
  return below?.startsWith('.') ? undefined : below
}

/** Runs a scenario and calls `before` ahead of each happening. */
async function watch(
  scenario: Scenario,
  workspace: Workspace,
  before: (happening: Happening) => Promise<void> | void,
): Promise<void> {
  const { rows } = Database.prototype
  Database.prototype.rows = async function <Row>(...given: Parameters<typeof rows>): Promise<Row[]> {
    await before({ name: `rows of ${given[0]}`, paths: [] })
    return rows.apply(this, given) as Promise<Row[]>
  }
  try {
    await withEffects(
      async ({ name, paths }, take) => {
        await before({ name, paths })
        await take()
      },
      (files) => scenario.run(workspace, files),
    )
  } finally {
    Database.prototype.rows = rows
  }
}

const isRename = (workspace: Workspace, { name, paths }: Happening) =>
  name === 'rename' && paths.some((path) => publishedPath(workspace, path) !== undefined)

const switching = SCENARIOS.filter(({ name }) => ['build', 'new chain', 'withdraw'].includes(name))

it.each(switching)(
  'a $name switches in one run of renames, and before each of them a complete release is current',
  async (scenario) => {
    const workspace = await scenario.prepare()
    try {
      const before = await published(workspace)
      const happenings: Happening[] = []
      const seen: string[] = []
      let after: Workspace | undefined
      let isLooking = false
      await watch(scenario, workspace, async (happening) => {
        if (isLooking) return
        happenings.push(happening)
        if (!isRename(workspace, happening)) {
          if (seen.length > 0) after ??= await copyWorkspace(workspace)
          return
        }
        isLooking = true
        // Nothing that came earlier has touched what is published.
        if (seen.length === 0) expect(await published(workspace)).toEqual(before)
        await assertWhole(workspace)
        expect(await wrongCodings(workspace.publicDir)).toEqual([])
        seen.push(await outcomeOf(workspace))
        isLooking = false
      })
      const first = happenings.findIndex((each) => isRename(workspace, each))
      const run = happenings.slice(first, first + seen.length)
      expect(run.filter((each) => !isRename(workspace, each))).toEqual([])
      expect(seen.length).toBeGreaterThan(20)
      expect(seen[0]).toBe('verified')
      expect(new Set(seen)).toEqual(new Set(['verified', 'switch in progress']))
      // A stop after the last rename leaves a complete release too.
      if (after === undefined) throw new Error('nothing follows the switch')
      expect(await outcomeOf(after)).toBe('verified')
      await removeWorkspace(after)
    } finally {
      await removeWorkspace(workspace)
    }
  },
)

async function outcomeOf({ publicDir }: Workspace): Promise<string> {
  try {
    await verify(publicDir, { signal: new AbortController().signal, report: () => {} })
    return 'verified'
  } catch (error) {
    return /(switch in progress):/.exec(String(error))?.[1] ?? String(error)
  }
}

const DATASET = 'datasets/rankings-daily/v1'

/** The steps of the switch, by the names that they put in place. */
const ORDER: [string, RegExp][] = [
  ['release', /\/releases\/\d{8}T\d{6}Z$/],
  ['days and months', /\/(daily|monthly)\//],
  ['restatements', /\/restatements\.json$/],
  ['coverage', /\/coverage\.json$/],
  ['history', /\/history\.(parquet|csv\.gz)$|\.avro$/],
  ['index', /\/(releases\/index|chain)\.json$/],
  ['site', /^(?!(catalog|feed)\b|datasets\/)[^/]+$|^(?!datasets\/)[^/]+\//],
  ['site', new RegExp(`^${DATASET}/(croissant\\.json|index\\.html)$`)],
  ['latest', /\/latest$/],
  ['pointer', /\/(latest|v1\.metadata)\.json$/],
  ['catalog', /^catalog\.json$/],
  ['feeds', /^feed\.(atom|json)$/],
]

it('a build switches in the documented order', async () => {
  const [scenario] = switching
  if (scenario === undefined) throw new Error('there is no build')
  const workspace = await scenario.prepare()
  const steps: string[] = []
  await watch(scenario, workspace, (happening) => {
    const target = publishedPath(workspace, happening.paths[1])
    if (!isRename(workspace, happening) || target === undefined) return
    const text = target.replace(/\.gz$/, (ending) => (isCoding(target) ? '' : ending))
    const step = ORDER.find(([, pattern]) => pattern.test(text))?.[0] ?? target
    if (steps.at(-1) !== step) steps.push(step)
  })
  await removeWorkspace(workspace)
  const expected = [...new Set(ORDER.map(([step]) => step))].filter((step) => step !== 'restatements')
  expect(steps.filter((step) => step !== 'restatements')).toEqual(expected)
})

/** What is published, without what is hidden. */
async function published({ publicDir }: Workspace): Promise<Record<string, string>> {
  const tree = Object.entries(await snapshotTree(publicDir))
  return Object.fromEntries(tree.filter(([path]) => !path.startsWith('.')))
}
