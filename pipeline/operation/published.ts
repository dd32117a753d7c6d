import { join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { Catalog } from '../contract/catalog.ts'
import { CATALOG_FILE } from '../contract/published-paths.ts'

const dataset = Catalog.shape.datasets.element.pick({
  synthetic: true,
  latest: true,
  next_expected: true,
  stale_after: true,
})

/** As much of `catalog.json` as commands tell. */
const Read = z.object({
  publisher: z.object({ name: z.string(), url: z.string().nullish() }),
  datasets: z.tuple([dataset], z.unknown()),
})

/** The current release, as everybody can read it. */
export interface Published {
  publisher: string
  synthetic: boolean
  release: string
  as_of: string
  start_date: string
  end_date: string
  data_version: string
  rows: number
  next_expected: string
  stale_after: string
}

/** What is published; undefined if nothing is. Throws `BuildError` if the catalog cannot be read. */
export async function readPublished(publicDir: string): Promise<Published | undefined> {
  const path = join(publicDir, CATALOG_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const { publisher, datasets } = parseJson(Read, text, path, BuildError)
  const { synthetic, latest, next_expected, stale_after } = datasets[0]
  const { release, as_of, start_date, end_date, data_version, rows } = latest
  return {
    publisher: publisher.name,
    synthetic,
    release,
    as_of,
    start_date,
    end_date,
    data_version,
    rows,
    next_expected,
    stale_after,
  }
}
