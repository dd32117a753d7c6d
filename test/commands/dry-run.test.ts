import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { build } from '../../pipeline/build.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { describeSummary } from '../../pipeline/commands/summary.ts'
import {
  buildIn,
  crowd,
  effectsWith,
  newWorkspace,
  snapshotTree,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER } from '../support/publisher.ts'
import type { FileRecord } from '../support/records.ts'
import { useSmallSample } from '../support/small-sample.ts'

useSmallSample({ days: 90 })

const LATER = '2025-03-10T13:00:00Z'
const KEY = 'ab'.repeat(32)

function used(day: number, tokens: number, model = 'acme/one'): FileRecord {
  const timestamp = `2025-03-0${day}T12:00:00Z`
  return { timestamp, model_permaslug: model, prompt_tokens: String(tokens), api_key_hash: KEY }
}

async function write(workspace: Workspace, records: FileRecord[], top = {}): Promise<void> {
  await writeSmallBuild(workspace, { sources: [{ records, extraColumns: ['api_key_hash'] }], top })
}

async function workspaceOf(records: FileRecord[], top = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  await write(workspace, records, top)
  return workspace
}

function dryRun(workspace: Workspace, asOf?: string, accept: string[] = []): Promise<BuildSummary> {
  return buildIn(workspace, asOf, {}, { dryRun: true, accept })
}

describe('a dry run', () => {
  it('lists for each date what a release would change', async () => {
    const workspace = await workspaceOf([used(1, 1), used(2, 5), used(2, 7, 'acme/two'), used(3, 9)])
    await buildIn(workspace)
    await write(workspace, [used(2, 6), used(2, 7, 'acme/two'), used(2, 1, 'acme/three'), used(3, 9), used(4, 11)])
    const before = await snapshotTree(workspace.root)
    const summary = await dryRun(workspace, LATER)
    expect(await snapshotTree(workspace.root)).toEqual(before)
    const { outcome, changes, warnings, data_version, restated } = summary
    expect(describeSummary(summary)).toContain(
      '  restated  2 final dates, 2025-03-01, 2025-03-02; 1 final week, 2025-02-24: reason unspecified; --reason and --note can say why\n',
    )
    expect({ outcome, data_version }).toEqual({ outcome: 'would_release', data_version: '2.0.0' })
    const periods = [{ table: 'weekly', date: '2025-02-24' }]
    expect(restated).toEqual({ dates: ['2025-03-01', '2025-03-02'], periods, reason: 'unspecified' })
    const changed = (date: string, rows: [number, number], tokens: [string, string], change = 'changed') => ({
      ...{ date, change, rows_before: rows[0], rows_after: rows[1] },
      ...{ tokens_before: tokens[0], tokens_after: tokens[1] },
    })
    expect(changes).toEqual({
      facts: ['content_hash', 'end_date', 'weekly_content_hash', 'monthly_content_hash'],
      dates: [
        changed('2025-03-01', [1, 0], ['1', '0'], 'removed'),
        changed('2025-03-02', [2, 3], ['12', '14']),
        changed('2025-03-04', [0, 1], ['0', '11'], 'added'),
      ],
      rows: { before: 4, after: 5, added: 2, changed: 1, removed: 1 },
      // Both rows of the first week sum one date less.
      weekly: {
        dates: [changed('2025-02-24', [2, 3], ['13', '14']), changed('2025-03-03', [1, 1], ['9', '20'])],
        rows: { before: 3, after: 4, added: 1, changed: 3, removed: 0 },
      },
      monthly: {
        dates: [changed('2025-03-01', [2, 3], ['22', '34'])],
        rows: { before: 2, after: 3, added: 1, changed: 1, removed: 0 },
      },
    })
    expect(warnings).toEqual([])
  })

  it('has the same summary as the build', async () => {
    const workspace = await workspaceOf([...crowd(52, (index) => 100 - index), used(4, 1)])
    const { changes, newest_rows, ...foretold } = await dryRun(workspace)
    expect(newest_rows).toEqual([{ date: '2025-03-04', model_permaslug: 'acme/one', total_tokens: '1' }])
    expect(foretold.warnings).toHaveLength(1)
    expect(changes?.rows).toEqual({ before: 0, after: 52, added: 52, changed: 0, removed: 0 })
    const { published, ...made } = await buildIn(workspace)
    expect({ ...foretold, outcome: 'released' }).toEqual(made)
    expect(published?.files).toBeGreaterThan(10)
  })

  it('would make a release if only the publisher and the status of days changed', async () => {
    const workspace = await workspaceOf([used(9, 1)])
    await buildIn(workspace)
    const publisher = { ...TEST_PUBLISHER, name: 'N', title: 'T', description: 'D' }
    await writeFile(join(workspace.dataDir, 'publisher.json'), JSON.stringify(publisher))
    const { outcome, changes } = await dryRun(workspace, '2025-03-15T00:00:00Z')
    expect(outcome).toBe('would_release')
    expect(changes).toMatchObject({ facts: ['publisher', 'day_status'], dates: [] })
  })

  it('leaves the public files of a stopped build as they are', async () => {
    const workspace = await workspaceOf([used(1, 1)])
    await buildIn(workspace)
    await write(workspace, [used(1, 2)])
    const rename = async (from: string, to: string) => {
      await realFiles.rename(from, to)
      if (to.includes('/releases/2025')) throw new Error('the machine is gone')
    }
    await expect(buildIn(workspace, LATER, { files: { ...realFiles, rename } })).rejects.toThrow('the machine is gone')
    const before = await snapshotTree(workspace.publicDir)
    await expect(dryRun(workspace, LATER)).rejects.toThrow(
      /was left by a build that was stopped; make build completes it/,
    )
    expect(await snapshotTree(workspace.publicDir)).toEqual(before)
  })

  it('writes the synthetic sample to a temporary folder', async () => {
    const { root } = await newWorkspace()
    const before = process.cwd()
    process.chdir(root)
    try {
      const config = readPipelineConfig({ AS_OF: '2025-01-10T00:00:00Z' })
      const summary = await build(config, effectsWith(), { dryRun: true })
      expect(summary).toMatchObject({ outcome: 'would_release', synthetic: true, end_date: '2025-01-06' })
    } finally {
      process.chdir(before)
    }
    await expect(stat(join(root, 'data/raw'))).rejects.toThrow('ENOENT')
    expect(await readdir(join(root, 'public'))).toEqual([])
  })

  it('fails where the build would fail, and accepts the same findings', async () => {
    const workspace = await workspaceOf([used(1, 1), used(3, 1)], { blocking: ['missing_date'] })
    await expect(dryRun(workspace)).rejects.toThrow('--accept missing_date')
    expect((await dryRun(workspace, undefined, ['missing_date'])).outcome).toBe('would_release')
    await write(workspace, [used(1, 1, '')], { max_rejected_share: 1 })
    await expect(dryRun(workspace)).rejects.toThrow('there is no public usage')
  })
})
