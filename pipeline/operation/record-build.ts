import { dirname, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { HeldError, reasonOf } from '../base/errors.ts'
import { isInside, isThere, replaceFile } from '../base/files.ts'
import { toJson } from '../base/json.ts'
import { BuildObserver, type BuildOutcome, type EndedBuild, outcomePath, readOutcome } from './build-outcome.ts'

/**
 * Runs a build and notes what became of it, also if it fails. A build that another command keeps from running is no
 * outcome. Throws what the build throws: what cannot be noted is a warning.
 */
export async function recordBuild<Summary extends EndedBuild>(
  config: PipelineConfig,
  effects: Effects,
  build: (effects: Effects) => Promise<Summary>,
): Promise<Summary> {
  const observer = new BuildObserver(effects.now)
  const report: Effects['report'] = (event) => {
    observer.hear(event)
    effects.report(event)
  }
  try {
    const summary = await build({ ...effects, report })
    await keepOutcome(config, observer.ended(summary), effects)
    return summary
  } catch (error) {
    if (!(error instanceof HeldError)) {
      const previous = await readOutcome(config).catch(() => undefined)
      await keepOutcome(config, observer.failed(error, previous), effects)
    }
    throw error
  }
}

/** Does nothing if there is no state folder yet, or if everybody could read it. */
async function keepOutcome(config: PipelineConfig, outcome: BuildOutcome, { files, report }: Effects): Promise<void> {
  const path = outcomePath(config)
  try {
    if (!(await isThere(dirname(path))) || isInside(dirname(path), resolve(config.publicDir))) return
    await replaceFile(files, path, toJson(outcome), { isPrivate: true })
  } catch (error) {
    const message = `warning: what became of this build could not be noted: ${reasonOf(error)}`
    report({ kind: 'notice', message })
  }
}
