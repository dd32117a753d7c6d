/** Whose usage it is: from raw files through state and archive to the measures of a rule. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import type { UnsafeCell } from '../../pipeline/dataset/disclosure.ts'
import { archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import { reportDisclosure } from '../../pipeline/rollup/disclosure-report.ts'
import { AS_OF, buildIn, newWorkspace, settings, type Workspace, writeInput } from '../support/pipeline.ts'

const HEAD = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id,api_key_hash,customer'
const [KEY_A, KEY_B] = ['a'.repeat(64), 'b'.repeat(64)]

/** Two customers on one model: 700 and 300 tokens. The first request of anna was delivered twice. */
const RECORDS = [
  `2025-03-01T10:00:00Z,acme/one,500,0,1,${KEY_A},anna`,
  `2025-03-01T10:00:00Z,acme/one,500,0,1,${KEY_A},anna`,
  `2025-03-01T11:00:00Z,acme/one,200,0,2,${KEY_B},anna`,
  `2025-03-01T12:00:00Z,acme/one,300,0,3,${KEY_B},bert`,
]

async function workspaceOf(source: object, records = RECORDS): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'usage.csv', `${[HEAD, ...records].join('\n')}\n`)
  await writeSource(workspace, source)
  return workspace
}

function writeSource(workspace: Workspace, source: object, top: object = {}): Promise<void> {
  const common = { name: 'gateway', schema: 'canonical', files: ['usage.csv'], visibility: 'public' }
  return writeInput(workspace, 'sources.json', { sources: [{ ...common, ...source }], ...top })
}

const effects = {
  now: () => new Date('2026-11-20T00:12:00.987Z'),
  report: () => {},
  signal: new AbortController().signal,
  files: realFiles,
}

async function cellsOf(workspace: Workspace): Promise<Pick<UnsafeCell, 'contributors' | 'largest_share'>[]> {
  const config = { ...readPipelineConfig(settings(workspace, AS_OF)), threads: 1 }
  const { worst_cells } = await reportDisclosure(config, effects, { min_contributors: 9, p_percent: 10 })
  return worst_cells.map(({ contributors, largest_share }) => ({ contributors, largest_share }))
}

const MAPPED = { columns: { contributor: 'customer' } }

it('counts the customers of a model, and a duplicate for none of them', async () => {
  expect(await cellsOf(await workspaceOf(MAPPED))).toEqual([{ contributors: 2, largest_share: 0.7 }])
})

it('takes API keys for customers where the source says so', async () => {
  expect(await cellsOf(await workspaceOf({ contributors: 'keys' }))).toEqual([{ contributors: 2, largest_share: 0.5 }])
})

it('does not measure usage that belongs to no customer', async () => {
  const exempt = { contributors: 'exempt', note: 'Our own account.' }
  expect(await cellsOf(await workspaceOf(exempt))).toEqual([])
})

it('counts tokens without a customer for the largest one', async () => {
  const unknown = '2025-03-01T13:00:00Z,acme/one,1000,0,4,,'
  expect(await cellsOf(await workspaceOf(MAPPED, [...RECORDS, unknown]))).toEqual([
    { contributors: 2, largest_share: 0.85 },
  ])
})

it('stores no name of a customer, only ids under a key of the installation', async () => {
  const workspace = await workspaceOf(MAPPED)
  await buildIn(workspace)
  const state = await readFile(join(workspace.dataDir, 'state/build.duckdb'), 'latin1')
  expect(state).toContain('acme/one')
  expect(state).not.toContain('anna')
})

it('knows the customers of archived dates whose raw files are deleted', async () => {
  const workspace = await workspaceOf(MAPPED)
  await buildIn(workspace)
  const config = { ...readPipelineConfig(settings(workspace, AS_OF)), threads: 1 }
  await archiveDates(config, effects, { before: '2025-03-02' })
  await rm(join(workspace.input, 'usage.csv'))
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 0.7 }])
})

it('knows the customers of a missing file that is kept', async () => {
  const workspace = await workspaceOf(MAPPED)
  await buildIn(workspace)
  await rm(join(workspace.input, 'usage.csv'))
  await writeInput(workspace, 'later.csv', `${HEAD}\n2025-03-01T10:00:00Z,acme/one,400,0,9,${KEY_A},carl\n`)
  await writeSource(workspace, { ...MAPPED, files: ['usage.csv', 'later.csv'] }, { on_missing: 'keep' })
  await buildIn(workspace, '2025-03-11T12:00:00Z')
  expect(await cellsOf(workspace)).toEqual([{ contributors: 3, largest_share: 0.5 }])
})

it('takes ids under a lost key for unknown customers', async () => {
  const workspace = await workspaceOf(MAPPED)
  await buildIn(workspace)
  await rm(join(workspace.dataDir, 'disclosure'), { recursive: true })
  expect(await cellsOf(workspace)).toEqual([{ contributors: 0, largest_share: 1 }])
})

it('refuses to measure where no source says whose usage it is', async () => {
  const workspace = await newWorkspace()
  const schema = { schema: 'openrouter-activity-api', files: ['usage.json'] }
  await writeSource(workspace, schema)
  await expect(cellsOf(workspace)).rejects.toThrow(CliError)
})

it.each([
  [{ contributors: 'keys', columns: { contributor: 'customer' } }, 'cannot be "keys" if "columns" names a column'],
  [{ contributors: 'exempt' }, 'note: is missing'],
  [{ note: 'Our own.' }, 'goes with "contributors": "exempt" only'],
])('refuses %j', async (source, message) => {
  await expect(cellsOf(await workspaceOf(source))).rejects.toThrow(message)
})
