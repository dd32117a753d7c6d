/** What is noted of a build, by builds that do nothing but report, fail or stop. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { BuildCounts, BuildEvent, Effects } from '../../pipeline/base/effects.ts'
import { BlockedError, BuildError, CliError, HeldError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { type BuildOutcome, outcomePath, readOutcome } from '../../pipeline/operation/build-outcome.ts'
import { recordBuild } from '../../pipeline/operation/record-build.ts'
import { temporaryFolder } from '../support/folder.ts'

const COUNTS: BuildCounts = {
  records: { read: 4, published: 2, rejected: 1, withheld: 1 },
  rejected_share: 0.25,
  withheld_share: 0.5,
  newest: [{ source: 'gateway', date: '2025-03-08' }],
}
const WARNINGS = [{ check: 'silent_source', finding: 'source "gateway" delivered no record at all' }]

type Work = (effects: Effects) => Promise<BuildSummary>

/** A data folder with a clock that takes a second for each look at it. */
async function newPlace() {
  const root = await temporaryFolder()
  const config = readPipelineConfig({ DATA_DIR: join(root, 'data'), PUBLIC_DIR: join(root, 'public') })
  await mkdir(join(root, 'data/state'), { recursive: true })
  let seconds = 0
  const told: BuildEvent[] = []
  const effects: Effects = {
    now: () => new Date(Date.UTC(2025, 2, 10, 12, 0, seconds++)),
    report: (event) => told.push(event),
    signal: new AbortController().signal,
    files: realFiles,
  }
  const record = (work: Work) => recordBuild(config, effects, work)
  return { config, effects, record, told, root }
}

const making =
  (outcome: 'released' | 'unchanged'): Work =>
  async ({ report }) => {
    report({ kind: 'stage', stage: 'read' })
    report({ kind: 'progress', stage: 'read', share: 1 })
    report({ kind: 'done', stage: 'compare', detail: '' })
    report({ kind: 'counted', counts: COUNTS })
    report({ kind: 'done', stage: 'release', detail: '' })
    return { outcome, release: '20250310T120000Z', warnings: WARNINGS } as unknown as BuildSummary
  }

const failing =
  (error: Error): Work =>
  async () => {
    throw error
  }

describe('the outcome of a build', () => {
  it('says what was made, how long each stage took, and what was counted', async () => {
    const { config, record } = await newPlace()
    await record(making('released'))

    expect(await readOutcome(config)).toEqual({
      outcome: 'released',
      started: '2025-03-10T12:00:00.000Z',
      ended: '2025-03-10T12:00:05.000Z',
      exit_code: 0,
      error: null,
      stages: [
        { stage: 'read', seconds: 2 },
        { stage: 'compare', seconds: 1 },
        { stage: 'release', seconds: 1 },
      ],
      counts: COUNTS,
      release: '20250310T120000Z',
      warnings: WARNINGS,
      checks: ['silent_source'],
      last_success: '2025-03-10T12:00:05.000Z',
    } satisfies BuildOutcome)
    // It is for its owner alone.
    expect((await stat(outcomePath(config))).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['failed', 1, new BuildError('a.csv is cut off')],
    ['failed', 2, new CliError('sources.json: unknown key')],
    ['blocked', 1, new BlockedError('blocking checks have new findings', ['missing_date'])],
    ['interrupted', 1, new DOMException('This operation was aborted', 'AbortError')],
  ])('says that it %s with exit code %i, and when a build last ended well', async (outcome, exit_code, error) => {
    const { config, record } = await newPlace()
    await record(making('released'))
    await expect(record(failing(error))).rejects.toBe(error)

    expect(await readOutcome(config)).toMatchObject({ outcome, exit_code, last_success: '2025-03-10T12:00:05.000Z' })
  })

  it('keeps what a build counted that failed after it', async () => {
    const { config, record } = await newPlace()
    const work = record(async ({ report }) => {
      report({ kind: 'counted', counts: COUNTS })
      throw new BuildError('1 of 4 records were rejected')
    })
    await expect(work).rejects.toThrow('were rejected')

    expect(await readOutcome(config)).toMatchObject({ outcome: 'failed', counts: COUNTS, last_success: null })
  })

  it('is not that of a build that another command kept from running', async () => {
    const { config, record } = await newPlace()
    await record(making('released'))
    await expect(record(failing(new HeldError('another export is running')))).rejects.toThrow('export')

    expect(await readOutcome(config)).toMatchObject({ outcome: 'released' })
  })

  it('replaces a file that cannot be read', async () => {
    const { config, record } = await newPlace()
    await writeFile(outcomePath(config), '{')
    await expect(readOutcome(config)).rejects.toThrow('build-outcome.json')
    await record(making('unchanged'))

    expect(await readOutcome(config)).toMatchObject({ outcome: 'unchanged' })
  })

  it('does not fail a build when it cannot be written', async () => {
    const { config, record, told } = await newPlace()
    await mkdir(outcomePath(config))

    expect(await record(making('released'))).toMatchObject({ outcome: 'released' })
    expect(told.at(-1)).toMatchObject({ kind: 'notice', message: expect.stringContaining('could not be noted') })
  })

  it('is not written where there is no state, and not where everything is published', async () => {
    const { effects, root } = await newPlace()
    const failure = failing(new CliError('DATA_DIR is inside PUBLIC_DIR'))
    const published = readPipelineConfig({ DATA_DIR: join(root, 'data'), PUBLIC_DIR: root })
    const missing = readPipelineConfig({ DATA_DIR: join(root, 'typo'), PUBLIC_DIR: join(root, 'public') })
    for (const config of [published, missing]) {
      await expect(recordBuild(config, effects, failure)).rejects.toThrow('DATA_DIR')
      await expect(readFile(outcomePath(config))).rejects.toThrow('ENOENT')
    }
  })
})
