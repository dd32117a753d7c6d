/** Builds of the whole program on made-up usage. */
import { existsSync } from 'node:fs'
import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { addDays, DATASET_START } from '../../pipeline/contract/utc-date.ts'
import { writePublisher } from '../support/publisher.ts'
import type { Measured } from './measure.ts'
import { runNode } from './process.ts'
import { type RawFiles, rawFiles, writeDay, writeSources } from './records.ts'

/** As in the Makefile. */
const BUILD_FLAGS = ['--max-semi-space-size=4']
export const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')
export const BASELINE = join(import.meta.dirname, 'baseline.ts')

interface BuildSettings {
  /** Whether everything that an earlier build left is deleted first. */
  isFresh?: boolean
  hour?: number
  /** The name of the sources file. */
  sources?: string
  memoryLimit?: string
}

/** Runs `tokenboard build` on the files of a folder, at an hour of the first day that they do not have. */
export async function build(
  raw: string,
  into: string,
  days: number,
  { isFresh = true, hour = 1, sources = 'sources.json', memoryLimit }: BuildSettings = {},
): Promise<Measured> {
  if (isFresh) await rm(into, { recursive: true, force: true })
  await writePublisher(join(into, 'data'))
  return runNode([...BUILD_FLAGS, CLI, 'build'], {
    SOURCES: join(raw, sources),
    DATA_DIR: join(into, 'data'),
    PUBLIC_DIR: join(into, 'public'),
    AS_OF: `${addDays(DATASET_START, days)}T0${hour}:00:00Z`,
    ...(memoryLimit !== undefined && { MEMORY_LIMIT: memoryLimit }),
  })
}

/** A full build of made-up usage. */
export async function fullBuild(raw: RawFiles, into: string): Promise<Measured> {
  return build(await rawFiles(raw), into, raw.days)
}

/** What DuckDB alone takes for the same sums. `statement` is one of `baseline.ts`, by default the one for the format. */
export async function bareDuckdb(raw: RawFiles, statement: string = raw.format): Promise<Measured> {
  return runNode([BASELINE, statement, await rawFolder(raw)])
}

export async function rawFolder(raw: RawFiles): Promise<string> {
  return join(await rawFiles(raw), 'raw')
}

/** A dataset in `folder` that is built once, and then grows by a day with each build. */
export function growingDataset(raw: RawFiles, folder: string) {
  const files = join(folder, 'raw')
  const buildAll = async (hour = 1): Promise<Measured> => {
    const days = (await readdir(files)).length
    return build(folder, join(folder, 'built'), days, { isFresh: false, hour })
  }
  const prepare = async () => {
    await cp(await rawFolder(raw), files, { recursive: true })
    await writeSources(folder)
    await buildAll()
  }
  const buildNewDay = async () => {
    if (!existsSync(files)) await prepare()
    await writeDay(files, (await readdir(files)).length, raw)
    return buildAll()
  }
  return {
    buildNewDay,
    /** Without any change, an hour after the last new day was built. */
    buildAgain: async () => {
      if (!existsSync(files)) await buildNewDay()
      return buildAll(2)
    },
  }
}
