import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addDays, DATASET_START } from '../../../pipeline/contract/utc-date.ts'
import { logNormal, seededRandom } from '../../../pipeline/raw/sample/random.ts'
import { writePublisher } from '../../support/publisher.ts'
import { runNode } from '../process.ts'
import { writeSources } from '../records.ts'

/** What is generated: `models` of `days`, of which fifty and `other` are published for each day. */
export interface DatasetOptions {
  seed: number
  days: number
  models: number
}

const CLI = join(import.meta.dirname, '../../../pipeline/cli.ts')
const FORM = 4
const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'

/**
 * Builds a dataset of made-up usage with the real pipeline, once: it stays in the folder for temporary files, under a
 * name made of what it was generated from. Its two releases differ in their last day. `asOf` is after every day of it.
 */
export async function builtDataset(options: DatasetOptions): Promise<{ publicDir: string; asOf: string }> {
  const { seed, days, models } = options
  const folder = join(tmpdir(), `tokenboard-bench-${FORM}-${seed}-${days}x${models}`)
  const asOf = (hour: number) => `${addDays(DATASET_START, days)}T0${hour}:00:00Z`
  if (existsSync(folder)) return { publicDir: join(folder, 'public'), asOf: asOf(2) }
  const making = `${folder}.${process.pid}`
  await mkdir(join(making, 'raw'), { recursive: true })
  await writeSources(making)
  await writePublisher(join(making, 'data'))
  const late = `${addDays(DATASET_START, days - 1)}T23:00:00Z,vendor1/model-0,1000000,1`
  for (const [index, lines] of [recordsOf(options), [late]].entries()) {
    await writeFile(join(making, `raw/usage-${index}.csv`), [HEADER, ...lines, ''].join('\n'))
    await runNode([CLI, 'build'], {
      SOURCES: join(making, 'sources.json'),
      DATA_DIR: join(making, 'data'),
      PUBLIC_DIR: join(making, 'public'),
      AS_OF: asOf(index + 1),
    })
  }
  await rename(making, folder)
  return { publicDir: join(folder, 'public'), asOf: asOf(2) }
}

/** One record for each model and day, sums of usage: popularity is long-tailed and drifts from day to day. */
function recordsOf({ seed, days, models }: DatasetOptions): string[] {
  const random = seededRandom('bench', seed)
  const weights = Array.from({ length: models }, (_, model) => 4e11 / (model + 1))
  return Array.from({ length: days }, (_, day) => {
    const date = addDays(DATASET_START, day)
    return weights.map((weight, model) => {
      const tokens = Math.round(weight * logNormal(random, 0.07)) + 1000
      weights[model] = tokens
      return `${date}T12:00:00Z,vendor${model % 37}/model-${model}-2025,${tokens},${model}`
    })
  }).flat()
}
