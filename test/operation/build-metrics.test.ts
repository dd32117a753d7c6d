/** What a build writes for node_exporter. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import type { BuildSummary } from '../../pipeline/build.ts'
import { renderBuildMetrics } from '../../pipeline/operation/build-metrics.ts'
import type { BuildOutcome } from '../../pipeline/operation/build-outcome.ts'
import { recordBuild } from '../../pipeline/operation/record-build.ts'
import { OUTCOME } from '../support/build-metrics.ts'
import { temporaryFolder } from '../support/folder.ts'
import { PUBLISHED, writeCatalog } from '../support/status.ts'

describe('the metrics of a build', () => {
  it('say how it ended, what it counted, and how old its sources and the release are', () => {
    const text = renderBuildMetrics(OUTCOME, PUBLISHED)
    const samples = text.split('\n').filter((line) => !line.startsWith('#'))

    expect(samples).toEqual([
      'tokenboard_build_last_run_timestamp_seconds 1741608002.5',
      'tokenboard_build_last_success_timestamp_seconds 1741608002.5',
      'tokenboard_build_success 1',
      'tokenboard_build_duration_seconds 2.5',
      'tokenboard_build_stage_duration_seconds{stage="read"} 1.5',
      'tokenboard_build_records{result="read"} 4',
      'tokenboard_build_records{result="published"} 2',
      'tokenboard_build_records{result="rejected"} 1',
      'tokenboard_build_records{result="withheld"} 1',
      'tokenboard_build_rejected_share 0.25',
      'tokenboard_build_withheld_share 0.5',
      'tokenboard_build_source_newest_record_timestamp_seconds{source="eu \\"west\\""} 1741392000',
      'tokenboard_build_release_timestamp_seconds 1741608000',
      'tokenboard_build_release_stale_after_timestamp_seconds 1741741200',
      '',
    ])
    expect(text.match(/^# TYPE \w+ gauge$/gm)).toHaveLength(11)
  })

  it.each(['blocked', 'failed', 'interrupted'] as const)('say 0 of one that %s', (outcome) => {
    expect(renderBuildMetrics({ ...OUTCOME, outcome }, undefined)).toContain('tokenboard_build_success 0\n')
  })

  it('leave out what is not known', () => {
    const failed: BuildOutcome = { ...OUTCOME, outcome: 'failed', stages: [], counts: null, last_success: null }
    const names = renderBuildMetrics(failed, undefined).matchAll(/^# TYPE tokenboard_build_(\w+)/gm)

    expect([...names].map(([, name]) => name)).toEqual(['last_run_timestamp_seconds', 'success', 'duration_seconds'])
  })
})

describe('METRICS_FILE', () => {
  async function newPlace(name = 'metrics/tokenboard.prom') {
    const root = await temporaryFolder()
    for (const folder of ['data/state', 'public', 'metrics']) await mkdir(join(root, folder), { recursive: true })
    const [DATA_DIR, PUBLIC_DIR, METRICS_FILE] = ['data', 'public', name].map((path) => join(root, path))
    const config = readPipelineConfig({ DATA_DIR, PUBLIC_DIR, METRICS_FILE })
    const told: BuildEvent[] = []
    const effects = {
      now: () => new Date('2025-03-10T12:00:00Z'),
      report: (event: BuildEvent) => told.push(event),
      signal: new AbortController().signal,
      files: realFiles,
    }
    const summary = { outcome: 'released', release: '20250310T120000Z', warnings: [] } as unknown as BuildSummary
    const record = (work = async () => summary) => recordBuild(config, effects, work)
    return { config, record, told, folder: join(root, 'metrics'), path: METRICS_FILE ?? '' }
  }

  it('is replaced by each build, also by one that fails, and others may read it', async () => {
    const { config, record, folder, path } = await newPlace()
    await writeCatalog(config.publicDir)
    await writeFile(path, 'what was there')
    const umask = process.umask(0o077)
    await record().finally(() => process.umask(umask))
    expect(await readFile(path, 'utf8')).toContain('tokenboard_build_success 1\n')
    expect((await stat(path)).mode & 0o777).toBe(0o644)
    await expect(record(() => Promise.reject(new BuildError('cut off')))).rejects.toThrow('cut off')

    const text = await readFile(path, 'utf8')
    expect(text).toContain('tokenboard_build_success 0\n')
    expect(text).toContain('tokenboard_build_last_success_timestamp_seconds 1741608000\n')
    expect(text).toContain('tokenboard_build_release_timestamp_seconds 1741608000\n')
    expect(await readdir(folder)).toEqual(['tokenboard.prom'])
  })

  it('does not fail a build when it cannot be written', async () => {
    const { record, told } = await newPlace('nowhere/tokenboard.prom')

    expect(await record()).toMatchObject({ outcome: 'released' })
    expect(told).toEqual([{ kind: 'notice', message: expect.stringContaining('METRICS_FILE could not be written') }])
  })

  it('must not be published, and ends in .prom', async () => {
    const { record } = await newPlace('public/tokenboard.prom')

    await expect(record()).rejects.toThrow('lies in PUBLIC_DIR')
    expect(() => readPipelineConfig({ METRICS_FILE: 'build.txt' })).toThrow('METRICS_FILE must end in .prom')
  })
})
