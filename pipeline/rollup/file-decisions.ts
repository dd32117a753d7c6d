import { BuildError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import type { Source } from '../raw/sources.ts'
import { isDay } from './days.ts'
import type { RollupRequest } from './engine.ts'
import type { KnownFile } from './state.ts'
import type { FreshFile } from './survey.ts'

export interface FileDecisions {
  forget: KnownFile[]
  keep: KnownFile[]
}

const NAMES_SHOWN = 5

/** Decides about missing files by `on_missing`. Throws `BuildError` if records would be lost. */
export function decideMissing(
  source: Source,
  missing: readonly KnownFile[],
  { sources: { on_missing }, onNotice }: Pick<RollupRequest, 'sources' | 'onNotice'>,
): FileDecisions {
  const archived = missing.filter((file) => file.open_records === 0n)
  const unarchived = missing.filter((file) => file.open_records > 0n)
  if (unarchived.length === 0) return { forget: archived, keep: [] }
  const what = `source ${JSON.stringify(source.name)}: records of a previous build are missing: ${describe(unarchived)}`
  if (on_missing !== 'remove') checkNoDays(source, unarchived)
  if (on_missing === 'fail') throw new BuildError(`${what}. ${CHOICES}`)
  onNotice(`${what}; on_missing is ${on_missing}: they ${on_missing === 'keep' ? 'stay' : 'are no longer counted'}`)
  return on_missing === 'keep' ? { forget: archived, keep: unarchived } : { forget: missing.slice(), keep: [] }
}

/** Days of ClickHouse may have the same records as new raw files, and no ids to find the duplicates by. */
function checkNoDays(source: Source, missing: readonly KnownFile[]): void {
  const days = missing.filter(({ name }) => isDay(name))
  const [first] = days
  if (first === undefined) return
  throw new BuildError(
    `source ${JSON.stringify(source.name)}: raw files would replace ${counted(days.length, 'day')} from ClickHouse, such as ${first.name}. ` +
      'Use ClickHouse again; or set "on_missing": "remove" in the sources file to count only the files; ' +
      'or archive these dates with tokenboard archive, using ClickHouse, before listing the files',
  )
}

/** Decides about a file with fewer records than the previous one. Throws `BuildError` if these would be lost. */
export function decideReplaced(
  source: Source,
  { name, replaces }: FreshFile,
  { records, isKept }: { records: bigint; isKept: boolean },
  { sources: { on_missing }, onNotice }: Pick<RollupRequest, 'sources' | 'onNotice'>,
): FileDecisions {
  if (replaces === undefined) return { forget: [], keep: [] }
  if (records >= replaces.open_records) return { forget: [replaces], keep: [] }
  const what =
    `source ${JSON.stringify(source.name)}: ${name} had ${counted(replaces.open_records, 'record')} in a previous build ` +
    `and has ${records} now`
  if (on_missing === 'fail') throw new BuildError(`${what}. ${CHOICES}`)
  onNotice(
    `${what}; on_missing is ${on_missing}: the previous records ${on_missing === 'keep' ? 'stay' : 'are no longer counted'}`,
  )
  if (on_missing === 'remove') return { forget: [replaces], keep: [] }
  if (replaces.unidentified_records > 0n) {
    throw new BuildError(
      `${what}; both cannot be kept, because ${replaces.unidentified_records} of its records have no request_id to ` +
        'find duplicates by. Restore the file, give the new one another name, or set on_missing to remove',
    )
  }
  if (!isKept && replaces.identified_records > 0n) {
    throw new BuildError(
      `${what}; the previous records cannot be kept, because on_missing was not keep when they were read. Restore the file, give the new one ` +
        'another name, or set on_missing to remove',
    )
  }
  return { forget: [], keep: [replaces] }
}

const CHOICES =
  'Restore the files; or set "on_missing" in the sources file to "keep" to keep their records, or to "remove" to drop them; or archive ' +
  'their dates with tokenboard archive before removing files'

function describe(files: readonly KnownFile[]): string {
  const names = files.slice(0, NAMES_SHOWN).map((file) => `${file.name} (${counted(file.open_records, 'record')})`)
  const more = files.length > NAMES_SHOWN ? ` and ${counted(files.length - NAMES_SHOWN, 'more file')}` : ''
  return `${names.join(', ')}${more}`
}
