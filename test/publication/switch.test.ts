import { expect, it, onTestFinished } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { isCoding } from '../../pipeline/contract/codings.ts'
import { wrongCodings } from '../support/codings.ts'
import { SCENARIOS, type Scenario } from '../support/fault-scenarios.ts'
import { assertWhole } from '../support/fault-trials.ts'
import { withEffects } from '../support/faults.ts'
import { copyWorkspace, removeWorkspace, snapshotTree, type Workspace } from '../support/pipeline.ts'
import { verifyFolder } from '../support/releases.ts'

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

/** The steps of these renames, each run of equal ones once. */
function stepsOf(workspace: Workspace, renames: readonly Happening[]): string[] {
  const steps = renames.flatMap(({ paths }) => {
    const target = publishedPath(workspace, paths[1])
    if (target === undefined) return []
    const text = isCoding(target) ? target.replace(/\.gz$/, '') : target
    return [ORDER.find(([, pattern]) => pattern.test(text))?.[0] ?? target]
  })
  return steps.filter((step, position) => step !== steps[position - 1] && step !== 'restatements')
}

it.each(SCENARIOS.filter(({ name }) => ['build', 'new chain', 'withdraw'].includes(name)))(
  'a $name switches in one run of renames, in the documented order, and before each of them a complete release is current',
  async (scenario) => {
    const workspace = await scenario.prepare()
    onTestFinished(() => removeWorkspace(workspace))
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
    const order = [...new Set(ORDER.map(([step]) => step))].filter((step) => step !== 'restatements')
    const steps = stepsOf(workspace, run)
    if (scenario.name === 'build') expect(steps).toEqual(order)
    expect(steps.indexOf('latest')).toBeLessThan(steps.indexOf('pointer'))
    // A stop after the last rename leaves a complete release too.
    if (after === undefined) throw new Error('nothing follows the switch')
    expect(await outcomeOf(after)).toBe('verified')
  },
)

async function outcomeOf({ publicDir }: Workspace): Promise<string> {
  try {
    await verifyFolder(publicDir)
    return 'verified'
  } catch (error) {
    return /(switch in progress):/.exec(String(error))?.[1] ?? String(error)
  }
}

/** What is published, without what is hidden. */
async function published({ publicDir }: Workspace): Promise<Record<string, string>> {
  const tree = Object.entries(await snapshotTree(publicDir))
  return Object.fromEntries(tree.filter(([path]) => !path.startsWith('.')))
}
