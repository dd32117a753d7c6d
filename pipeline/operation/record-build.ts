import { chmodSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { CliError, HeldError, reasonOf } from '../base/errors.ts'
import { isInside, isThere, replaceFile } from '../base/files.ts'
import { toJson } from '../base/json.ts'
import { renderBuildMetrics } from './build-metrics.ts'
import { BuildObserver, type BuildOutcome, type EndedBuild, outcomePath, readOutcome } from './build-outcome.ts'
import { readPublished } from './published.ts'

/** What became of a build, and of the build before it. */
export interface BuildRecord {
  outcome: BuildOutcome
  previous: BuildOutcome | undefined
}

/**
 * Runs a build and notes what became of it, also if it fails. A build that another command keeps from running is no
 * outcome. Throws what the build throws: what cannot be noted is a warning. Throws `CliError` first if METRICS_FILE would be
 * published.
 */
export async function recordBuild<Summary extends EndedBuild>(
  config: PipelineConfig,
  effects: Effects,
  build: (effects: Effects) => Promise<Summary>,
  onRecord: (record: BuildRecord) => void = () => {},
): Promise<Summary> {
  checkMetricsFile(config)
  const observer = new BuildObserver(effects.now)
  const report: Effects['report'] = (event) => {
    observer.hear(event)
    effects.report(event)
  }
  const keep = async (outcomeAfter: (previous: BuildOutcome | undefined) => BuildOutcome) => {
    const previous = await readOutcome(config).catch(() => undefined)
    const record = { outcome: outcomeAfter(previous), previous }
    await keepRecord(config, record, effects)
    onRecord(record)
  }
  try {
    const summary = await build({ ...effects, report })
    await keep(() => observer.ended(summary))
    return summary
  } catch (error) {
    if (!(error instanceof HeldError)) await keep((previous) => observer.failed(error, previous))
    throw error
  }
}

function checkMetricsFile({ metricsFile, publicDir }: PipelineConfig): void {
  if (metricsFile === undefined || !isInside(metricsFile, publicDir)) return
  throw new CliError(
    `METRICS_FILE ${metricsFile} lies in PUBLIC_DIR, where everything is published; choose another folder`,
  )
}

async function keepRecord(config: PipelineConfig, { outcome }: BuildRecord, effects: Effects): Promise<void> {
  await orWarn('what became of this build could not be noted', effects, () => keepOutcome(config, outcome, effects))
  const { metricsFile } = config
  if (metricsFile === undefined) return
  await orWarn('METRICS_FILE could not be written', effects, async () => {
    const published = await readPublished(config.publicDir)
    await replaceReadable(metricsFile, renderBuildMetrics(outcome, published), effects)
  })
}

const READABLE_BY_ALL = 0o644

/** Replaces a file that others read, whatever the umask is: node_exporter is another user. */
async function replaceReadable(path: string, text: string, { files }: Pick<Effects, 'files'>): Promise<void> {
  const next = `${path}.next`
  try {
    await files.write(next, text)
    chmodSync(next, READABLE_BY_ALL)
    await files.rename(next, path)
  } catch (error) {
    await files.remove(next)
    throw error
  }
}

/** Does nothing if there is no state folder yet, or if everybody could read it. */
async function keepOutcome(config: PipelineConfig, outcome: BuildOutcome, { files }: Effects): Promise<void> {
  const path = outcomePath(config)
  if (!(await isThere(dirname(path))) || isInside(dirname(path), resolve(config.publicDir))) return
  await replaceFile(files, path, toJson(outcome), { isPrivate: true })
}

async function orWarn(problem: string, { report }: Pick<Effects, 'report'>, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    report({ kind: 'notice', message: `warning: ${problem}: ${reasonOf(error)}` })
  }
}
