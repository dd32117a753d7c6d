import { lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { DATASET_PATH } from '../../pipeline/contract/manifest.ts'
import { TOMBSTONE_FILE } from '../../pipeline/contract/tombstone.ts'
import { BoundedCache } from '../base/bounded-cache.ts'
import { formPathOf, isForbidden, isUnreachable } from './open-file.ts'
import { wantedBy } from './public-files.ts'

export interface Sight {
  path: string
  place: Place
  /** Changes whenever the answer for the path may change. */
  state: string
}

interface Place {
  file: string
  tombstone: string | undefined
}

/** Checks the disk on each request. Synchronous calls take microseconds; the thread pool takes ten times as long. */
export function fileMemory<T extends { readonly bytes: number }>(root: string, mostBytes: number) {
  const kept = new BoundedCache<{ sight: Sight; value: T; bytes: number }>(mostBytes, ({ bytes }) => bytes)

  return {
    /** Undefined if the file has changed or a link leads elsewhere. */
    recall(name: string): T | undefined {
      const known = kept.get(name)
      return known !== undefined && sightOf(known.sight.place)?.state === known.sight.state ? known.value : undefined
    },
    /** Call before reading the file, so that a change during the read is noticed. */
    look(urlPath: string): Sight | undefined {
      const wanted = wantedBy(urlPath)
      return wanted && sightOf(placeOf(root, wanted))
    },
    keep: (name: string, sight: Sight, value: T) => kept.set(name, { sight, value, bytes: value.bytes + name.length }),
  }
}

function placeOf(root: string, { segments, release }: NonNullable<ReturnType<typeof wantedBy>>): Place {
  return {
    file: join(root, ...segments),
    tombstone: release && join(root, DATASET_PATH, 'releases', release, TOMBSTONE_FILE),
  }
}

function sightOf(place: Place): Sight | undefined {
  try {
    const path = realpathSync.native(place.file)
    const parts = [path, formPathOf(path), place.tombstone].filter((each) => each !== undefined)
    return { path, place, state: [path, ...parts.map(stampOf)].join(' ') }
  } catch (error) {
    if (isUnreachable(error) || isForbidden(error)) return undefined
    throw error
  }
}

/** Changes when a file is replaced or written to, even if its time is set back. */
function stampOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats === undefined ? 'none' : `${stats.dev}-${stats.ino}-${stats.size}-${stats.mtimeMs}-${stats.ctimeMs}`
}
