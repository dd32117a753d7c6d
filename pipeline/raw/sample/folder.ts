import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { readTextIfAny } from '../../base/files.ts'

/** The file that marks the folder of a sample, and says what all its files were made from. */
export const MAKE_FILE = 'sample.json'

/** What every file of a sample was made from. Files of two makes in one folder would contradict each other. */
export const Make = z.object({ synthetic: z.literal(true), seed: z.int(), requests_per_day: z.number() })
export type Make = z.infer<typeof Make>

/** Whether a sample was written to `folder`. */
export async function isSampleFolder(folder: string): Promise<boolean> {
  const text = await readTextIfAny(join(folder, MAKE_FILE))
  return text !== undefined && Make.safeParse(parsed(text)).success
}

/** The sample that the files of `folder` belong to, behind links; undefined where they are of none. */
export async function sampleOf(folder: string): Promise<string | undefined> {
  const real = await realpath(folder)
  for (const place of [real, dirname(real)]) if (await isSampleFolder(place)) return place
  return undefined
}

/** Another program may have a file of that name. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
