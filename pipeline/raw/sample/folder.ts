import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { readTextIfAny } from '../../base/files.ts'

export const MAKE_FILE = 'sample.json'

/** The parameters of a sample. All its files must share them. */
export const Make = z.object({
  synthetic: z.literal(true),
  seed: z.int(),
  requests_per_day: z.number(),
  version: z.literal(2),
})
export type Make = z.infer<typeof Make>

export async function isSampleFolder(folder: string): Promise<boolean> {
  const text = await readTextIfAny(join(folder, MAKE_FILE))
  return text !== undefined && Make.safeParse(parsed(text)).success
}

/** The sample folder that `folder` is or lies directly in, links resolved; undefined if none. */
export async function sampleOf(folder: string): Promise<string | undefined> {
  const real = await realpath(folder)
  for (const place of [real, dirname(real)]) if (await isSampleFolder(place)) return place
  return undefined
}

// Another program's file may have this name.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
