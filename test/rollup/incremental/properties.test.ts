/** Builds of a dataset that grows and changes: however it was delivered, the end is what a first build would make of it. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BuildError } from '../../../pipeline/base/errors.ts'
import { type Files, realFiles } from '../../../pipeline/base/files.ts'
import type { BuildSummary } from '../../../pipeline/build-summary.ts'
import { UtcDate } from '../../../pipeline/contract/utc-date.ts'
import { crashAfter, LOST } from '../../support/crash.ts'
import { BUILDS, deliver, oracleSources, type Plan, plan } from '../../support/deliveries.ts'
import { atMinute, Gateway, inputAlone } from '../../support/gateway.ts'
import { cleanRecords, expectedDataset, type OracleAnswer, type RegistryModel } from '../../support/oracle.ts'
import {
  archiveIn,
  buildIn,
  createWorkspace,
  publishedCsv,
  releaseFolder,
  removeWorkspace,
  rowsOf,
  sha256,
  type Workspace,
  writeInput,
  writeSmallBuild,
} from '../../support/pipeline.ts'
import { tries } from '../../support/property.ts'
import { readUsageOf } from '../../support/usage.ts'

const DELIVERIES = tries({ share: 2 / 3 })
const ARCHIVES = tries({ share: 1 / 3, seed: 1 })

/** A build, or undefined where there was nothing to publish or the machine was lost. */
async function tryBuild(
  workspace: Workspace,
  asOf: string,
  files: Files = realFiles,
): Promise<BuildSummary | undefined> {
  try {
    return await buildIn(workspace, asOf, { files })
  } catch (error) {
    if (error instanceof BuildError && /publish/.test(error.message)) return undefined
    if (error instanceof Error && error.message.includes(LOST)) return undefined
    throw error
  }
}

function expected(given: Plan, build: number): OracleAnswer {
  return expectedDataset(oracleSources(given, build), given.registries[build] ?? [], atMinute(build))
}

/** The builds of a plan one after another; every one that ends well must publish what the oracle says of its moment. */
async function buildStepByStep(workspace: Workspace, given: Plan): Promise<BuildSummary | undefined> {
  const gateway = new Gateway(workspace)
  let last: BuildSummary | undefined
  for (let build = 0; build < BUILDS; build += 1) {
    await deliver(workspace, given, build)
    if (build > 0 && given.forgotten[build]) await gateway.forget()
    const lostAfter = build === BUILDS - 1 ? undefined : given.crashes[build]
    const files = lostAfter === undefined ? realFiles : crashAfter(lostAfter)
    last = await tryBuild(workspace, atMinute(build), files)
    const { csv, rows } = expected(given, build)
    if (last !== undefined) expect(await publishedCsv(workspace), `build ${build}`).toBe(csv)
    else if (lostAfter === undefined) expect(rows, `build ${build}`).toEqual([])
  }
  return last
}

/** The hash of each form of the dataset. JSON and Parquet have the `as_of` of their release, which stays when nothing changed. */
async function rankingFiles(workspace: Workspace, outcome: BuildSummary['outcome']): Promise<Record<string, string>> {
  const folder = await releaseFolder(workspace)
  const names = (await readdir(folder)).filter((name) => name.startsWith('rankings-daily.'))
  expect(names.length).toBeGreaterThan(4)
  const compared = names.filter((name) => outcome === 'released' || !/\.(json|parquet)/.test(name))
  const hashes = compared.map(async (name) => [name, sha256(await readFile(join(folder, name)))] as const)
  return Object.fromEntries(await Promise.all(hashes))
}

/** What a summary says of the data; the release it speaks of may be an older one. */
function facts({ records, rows, models, days, total_tokens, start_date, end_date, content_hash }: BuildSummary) {
  return { records, rows, models, days, total_tokens, start_date, end_date, content_hash }
}

/** Another workspace whose one build has everything at once. */
async function builtAtOnce(
  make: () => Promise<Workspace>,
  compare: (workspace: Workspace, summary: BuildSummary) => Promise<void>,
): Promise<void> {
  const workspace = await make()
  try {
    const summary = await tryBuild(workspace, atMinute(BUILDS - 1))
    if (summary === undefined) throw new Error('a first build must publish what a later one has published')
    await compare(workspace, summary)
  } finally {
    await removeWorkspace(workspace)
  }
}

async function cleanSet(given: Plan): Promise<Workspace> {
  const workspace = await createWorkspace()
  const models = given.registries[BUILDS - 1] ?? []
  const sources = oracleSources(given, BUILDS - 1).map((source) => ({
    settings: { visibility: source.visibility, timezone: source.timezone },
    records: cleanRecords(source, models).map((raw) => ({ ...raw })),
  }))
  await writeSmallBuild(workspace, { sources, models })
  return workspace
}

it(
  'many builds end with the bytes of one build of the clean set, however files, registry and settings changed and builds crashed',
  async () => {
    let published = 0
    await fc.assert(
      fc.asyncProperty(plan, async (given) => {
        const workspace = await createWorkspace()
        try {
          const summary = await buildStepByStep(workspace, given)
          if (summary === undefined) return
          published += 1
          const files = await rankingFiles(workspace, summary.outcome)
          const { read, duplicates, rejected, content_hash } = expected(given, BUILDS - 1)
          expect(summary.records).toMatchObject({ read, duplicates, rejected })
          expect(summary.content_hash).toBe(content_hash)

          await builtAtOnce(
            () => inputAlone(workspace),
            async (fresh, atOnce) => {
              expect(facts(summary)).toEqual(facts(atOnce))
              expect(files).toEqual(await rankingFiles(fresh, summary.outcome))
              expect((await readUsageOf(workspace)).rows).toEqual((await readUsageOf(fresh)).rows)
            },
          )
          await builtAtOnce(
            () => cleanSet(given),
            async (clean, atOnce) => {
              expect(summary.content_hash).toBe(atOnce.content_hash)
              expect(files).toEqual(await rankingFiles(clean, summary.outcome))
            },
          )
        } finally {
          await removeWorkspace(workspace)
        }
      }),
      DELIVERIES.options,
    )
    expect(published).toBeGreaterThan(DELIVERIES.numRuns / 3)
  },
  DELIVERIES.timeout_ms,
)

const CUT = UtcDate.parse('2025-03-03')
const isBeforeCut = (row: string) => row < CUT

const closeBefore = (before: UtcDate, workspace: Workspace) => archiveIn(workspace, before, atMinute(BUILDS))

/** The registry of the last build with every model's visibility turned round: what a later build must follow. */
function turnedRound(given: Plan): RegistryModel[] {
  return (given.registries[BUILDS - 1] ?? []).map((model) => ({ ...model, public: !model.public }))
}

it(
  'archived dates stay published whether raw files and state stay or not, as the current registry decides',
  async () => {
    let archived = 0
    await fc.assert(
      fc.asyncProperty(plan, fc.boolean(), async (given, forgets) => {
        const workspace = await createWorkspace()
        const gateway = new Gateway(workspace)
        try {
          const summary = await buildStepByStep(workspace, given)
          if (summary === undefined) return
          const csv = await publishedCsv(workspace)
          const usage = (await readUsageOf(workspace)).rows
          await closeBefore(CUT, workspace)
          if (forgets) await gateway.forget()
          expect((await tryBuild(workspace, atMinute(BUILDS + 1)))?.outcome).toBe('unchanged')
          expect(await publishedCsv(workspace)).toBe(csv)
          expect((await readUsageOf(workspace)).rows).toEqual(usage)

          await writeInput(workspace, 'models.json', turnedRound(given))
          const sources = oracleSources(given, BUILDS - 1)
          const turned = expectedDataset(sources, turnedRound(given), atMinute(BUILDS))
          await tryBuild(workspace, atMinute(BUILDS + 2))
          if (turned.rows.length > 0) expect(await publishedCsv(workspace)).toBe(turned.csv)

          await writeInput(workspace, 'models.json', given.registries[BUILDS - 1] ?? [])
          for (const [index] of given.sources.entries())
            await rm(join(workspace.input, `source-${index}`), { recursive: true, force: true })
          await gateway.forget()
          const before = rowsOf(csv).filter(isBeforeCut)
          const alone = await tryBuild(workspace, atMinute(BUILDS + 3))
          if (before.length === 0) expect(alone).toBeUndefined()
          else expect(rowsOf(await publishedCsv(workspace))).toEqual(before)
          if (before.length > 0) archived += 1
          const after = (await readUsageOf(workspace)).rows
          if (alone !== undefined) expect(after).toEqual(usage.filter(({ date }) => isBeforeCut(date)))
        } finally {
          await removeWorkspace(workspace)
        }
      }),
      ARCHIVES.options,
    )
    expect(archived).toBeGreaterThan(ARCHIVES.numRuns / 3)
  },
  ARCHIVES.timeout_ms,
)
