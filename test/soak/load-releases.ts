import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'

const FIRST = Date.parse('2025-02-10T00:00:00Z')
/** The release before is still read while the next one is loaded. */
const KEPT = 3

/** Releases that follow each other, of which every row says of which one it is. */
export interface Releases {
  publishNext(): Promise<void>
  count: number
}

export function releasesIn(publicDir: string): Releases {
  const names: string[] = []
  return {
    get count() {
      return names.length
    },
    async publishNext() {
      const number = names.length + 1
      const asOf = new Date(FIRST + number * 1000).toISOString().replace('.000', '')
      names.push(await publish(publicDir, sampleRows({ days: 40, scale: number }), { asOf }))
      const old = names.at(-1 - KEPT)
      if (old !== undefined) await rm(join(publicDir, FOLDER, 'releases', old), { recursive: true })
    },
  }
}

/** The factor of all tokens of a release, by its name. */
export function scaleOf(release: string): number {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(release) ?? []
  const iso = `${date.replace(/(....)(..)/, '$1-$2-')}T${time.replace(/(..)(..)/, '$1:$2:')}Z`
  return (Date.parse(iso) - FIRST) / 1000
}
