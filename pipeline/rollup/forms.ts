import { join } from 'node:path'
import { z } from 'zod'
import type { PipelineConfig } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { type Files, isThere, namesIn, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { FORMS, hasOtherForms } from '../contract/forms.ts'
import { versionOfPublic } from '../release/index.ts'

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
export async function checkForms({ dataDir, publicDir }: Places, files?: Files): Promise<void> {
  const stamp = join(dataDir, 'forms.json')
  const isOwn = Stamp.safeParse(jsonIfAny((await readTextIfAny(stamp)) ?? '')).success
  const made = await versionOfPublic(publicDir)
  const folders = isOwn ? [] : await foldersIn(dataDir)
  const lost = Object.entries(HISTORY).filter(([name]) => folders.includes(name))
  const isPublicOld = made !== undefined && hasOtherForms(made)
  if (!isPublicOld && folders.length === 0) {
    if (!isOwn && files !== undefined) await replaceFile(files, stamp, toJson({ forms: FORMS }))
    return
  }
  const found = [
    ...(isPublicOld ? [`  ${publicDir}: releases of Tokenboard ${made}`] : []),
    ...folders.map((name) => `  ${join(dataDir, name)}`),
  ]
  const advice =
    lost.length === 0
      ? 'Move them elsewhere and build again: everything is made anew from the raw logs.'
      : `${lost.map(([name, what]) => `${join(dataDir, name)} has ${what}`).join('; ')}: that cannot be made anew. Keep the earlier version, or ` +
        `${isPublicOld ? `move the content of ${publicDir} elsewhere and ` : ''}go on without with: tokenboard build --accept lost_history`
  throw new CliError(
    `an earlier version of Tokenboard made this, in forms that this version does not read:\n${found.join('\n')}\n${advice}`,
  )
}

/** Moves what an earlier version left in `DATA_DIR` to `DATA_DIR/lost-history`. Returns the folders that were moved. */
export async function setAside({ dataDir }: Places, files: Files): Promise<string[]> {
  if (await isThere(join(dataDir, 'forms.json'))) return []
  const folders = await foldersIn(dataDir)
  if (folders.length > 0) await files.makeFolder(join(dataDir, 'lost-history'))
  for (const name of folders) await files.rename(join(dataDir, name), join(dataDir, 'lost-history', name))
  return folders
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
