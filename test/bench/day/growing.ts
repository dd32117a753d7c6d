import { existsSync } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { build, rawFolder } from '../build.ts'
import type { Measured } from '../comparison.ts'
import { type RawFiles, writeDay, writeSources } from '../records.ts'

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
