import { join } from 'node:path'
import { z } from 'zod'
import type { PipelineConfig } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { type Files, namesIn, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { FORMS } from '../contract/forms.ts'
import { LOST_HISTORY } from '../dataset/checks.ts'
import { olderVersion } from '../release/index.ts'

/** Below `DATA_DIR`: what a build makes again, and what it cannot. */
const FOLDERS = ['state', 'provenance', 'previous-chains'] as const
const HISTORY = {
  archive: 'archived dates, whose raw logs may be deleted',
  disclosure: 'dates that a disclosure rule keeps as they were published',
} as const

const Stamp = z.object({ forms: z.literal(FORMS) })

type Places = Pick<PipelineConfig, 'dataDir' | 'publicDir'>

/**
 * Refuses what an earlier version left in `PUBLIC_DIR` and `DATA_DIR`. Where `files` are given, marks new folders with the
 * forms of this version. Throws `CliError` that lists what is there and what to do.
 */
export async function checkForms(places: Places, files?: Files): Promise<void> {
  const { dataDir, publicDir } = places
  const { isMarked, folders, older } = await leftIn(places)
  if (older === undefined && folders.length === 0) {
    if (!isMarked && files !== undefined) await replaceFile(files, stampIn(dataDir), toJson({ forms: FORMS }))
    return
  }
  const found = [
    ...(older === undefined ? [] : [`  ${publicDir}: releases of Tokenboard ${older}`]),
    ...folders.map((name) => `  ${join(dataDir, name)}`),
  ]
  const lost = Object.entries(HISTORY).flatMap(([name, what]) =>
    folders.includes(name) ? `${join(dataDir, name)} has ${what}` : [],
  )
  const advice =
    lost.length === 0
      ? 'Move them elsewhere and build again: everything is made anew from the raw logs.'
      : `${lost.join('; ')}: that cannot be made anew. Keep the earlier version, or ` +
        `${older === undefined ? '' : `move the content of ${publicDir} elsewhere and `}go on without with: tokenboard build --accept ${LOST_HISTORY}`
  throw new CliError(
    `an earlier version of Tokenboard made this, in forms that this version does not read:\n${found.join('\n')}\n${advice}`,
  )
}

/**
 * Moves what an earlier version left in `DATA_DIR` to `DATA_DIR/lost-history`, once the public folder has nothing of it.
 * Returns the folders that were moved.
 */
export async function setAside(places: Places, files: Files): Promise<string[]> {
  const { folders, older } = await leftIn(places)
  if (older !== undefined || folders.length === 0) return []
  const aside = join(places.dataDir, 'lost-history')
  await files.makeFolder(aside)
  for (const name of folders) await files.rename(join(places.dataDir, name), join(aside, name))
  return folders
}

const stampIn = (dataDir: string) => join(dataDir, 'forms.json')

async function leftIn({ dataDir, publicDir }: Places) {
  const isMarked = Stamp.safeParse(jsonIfAny(await readTextIfAny(stampIn(dataDir)))).success
  const folders = isMarked ? [] : await foldersIn(dataDir)
  return { isMarked, folders, older: await olderVersion(publicDir) }
}

async function foldersIn(dataDir: string): Promise<string[]> {
  const names = [...FOLDERS, ...Object.keys(HISTORY)]
  const filled = await Promise.all(names.map(async (name) => (await namesIn(join(dataDir, name))).some(isForm)))
  return names.filter((_, position) => filled[position])
}

/** The usage of keys and the secrets are read as they are, and who locks the state makes its database. */
function isForm(name: string): boolean {
  return !/^(build\.duckdb.*|tmp|usage\.ndjson|secret\.key|inputs\.key)$/.test(name)
}
