import { existsSync } from 'node:fs'
import { cp, link, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, rawFolder } from '../build.ts'
import type { Measured } from '../comparison.ts'
import { type RawFiles, writeDay, writeSources } from '../records.ts'

const AS_IT_WAS = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }

/** A dataset in `folder` that is built once, and to which the same new day comes again and again. */
export function growingDataset(raw: RawFiles, folder: string) {
  const [built, kept] = [join(folder, 'built'), join(folder, 'kept')]
  const buildDays = (days: number, hour = 1): Promise<Measured> => build(folder, built, days, { isFresh: false, hour })
  const prepare = async () => {
    await linkFiles(await rawFolder(raw), join(folder, 'raw'))
    await writeSources(folder)
    await buildDays(raw.days)
    await cp(built, kept, AS_IT_WAS)
    await writeDay(join(folder, 'raw'), raw.days, raw)
  }
  const buildNewDay = async () => {
    if (!existsSync(kept)) await prepare()
    await rm(built, { recursive: true })
    await cp(kept, built, AS_IT_WAS)
    return buildDays(raw.days + 1)
  }
  return {
    buildNewDay,
    /** Without any change, an hour after the new day was built. */
    buildAgain: async () => {
      if (!existsSync(kept)) await buildNewDay()
      return buildDays(raw.days + 1, 2)
    },
  }
}

async function linkFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) await link(join(from, name), join(to, name))
}
