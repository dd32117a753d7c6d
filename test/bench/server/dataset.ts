import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addDays, DATASET_START } from '../../../pipeline/contract/utc-date.ts'
import { logNormal, seededRandom } from '../../../pipeline/raw/sample/random.ts'
import { writePublisher } from '../../support/publisher.ts'

/** What is generated: `models` of `days`, of which fifty and `other` are published for each day. */
export interface DatasetOptions {
  seed: number
  days: number
  models: number
}

/** Folders of a dataset that was built; two releases of it differ in their last day. */
export interface BuiltDataset {
  publicDir: string
  dataDir: string
  /** The instant at which every day of it is over. */
  asOf: string
}

const ROOT = join(import.meta.dirname, '../../..')
const FORM = 2

/**
 * Builds a dataset of made-up usage with the real pipeline, once: it is kept in the folder for temporary files, under a
 * name made of what it was generated from.
 */
export async function builtDataset(options: DatasetOptions): Promise<BuiltDataset> {
  const folder = join(tmpdir(), `tokenboard-bench-${FORM}-${options.seed}-${options.days}x${options.models}`)
  const built = { publicDir: join(folder, 'public'), dataDir: join(folder, 'data'), asOf: asOfOf(options, 2) }
  if (existsSync(folder)) return built
  const making = `${folder}.${process.pid}`
  await mkdir(join(making, 'raw'), { recursive: true })
  const lines = recordsOf(options)
  await writeFile(
    join(making, 'sources.json'),
    JSON.stringify({ sources: [{ name: 'made-up', schema: 'canonical', files: ['raw/*'], visibility: 'public' }] }),
  )
  await writeFile(
    join(making, 'raw/usage.csv'),
    ['timestamp,model_permaslug,prompt_tokens,completion_tokens', ...lines, ''].join('\n'),
  )
  await writePublisher(join(making, 'data'))
  build(making, asOfOf(options, 1))
  const late = `${addDays(DATASET_START, options.days - 1)}T23:00:00Z,vendor1/model-0,1000000,1`
  await writeFile(join(making, 'raw/late.csv'), `timestamp,model_permaslug,prompt_tokens,completion_tokens\n${late}\n`)
  build(making, asOfOf(options, 2))
  await rename(making, folder)
  return built
}

/** Some hours into the first day that is not in the dataset. */
function asOfOf({ days }: DatasetOptions, hours: number): string {
  return `${addDays(DATASET_START, days)}T0${hours}:00:00Z`
}

/** One record for each model and day, sums of what was used: popularity is long-tailed and drifts from day to day. */
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

function build(folder: string, asOf: string): void {
  const { PATH } = process.env
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'pipeline/cli.ts'), 'build'], {
    cwd: ROOT,
    env: {
      PATH,
      SOURCES: join(folder, 'sources.json'),
      DATA_DIR: join(folder, 'data'),
      PUBLIC_DIR: join(folder, 'public'),
      AS_OF: asOf,
    },
  })
  if (status !== 0) throw new Error(`the dataset cannot be built:\n${stderr}`)
}
