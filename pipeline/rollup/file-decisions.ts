import { BuildError } from '../base/errors.ts'
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

/** Decides about missing files (DESIGN.md §5, `on_missing`). Throws `BuildError` if records would be lost. */
export function decideMissing(
  source: Source,
  missing: readonly KnownFile[],
  { sources: { on_missing }, onNotice }: Pick<RollupRequest, 'sources' | 'onNotice'>,
): FileDecisions {
  const archived = missing.filter((file) => file.open_records === 0n)
  const unarchived = missing.filter((file) => file.open_records > 0n)
  if (unarchived.length === 0) return { forget: archived, keep: [] }
  const what = `source ${JSON.stringify(source.name)}: records that an earlier build read are gone: ${describe(unarchived)}`
  if (on_missing !== 'remove') checkNoDays(source, unarchived)
  if (on_missing === 'fail') throw new BuildError(`${what}. ${CHOICES}`)
  onNotice(`${what}; on_missing is ${on_missing}: they ${on_missing === 'keep' ? 'stay' : 'are not counted any more'}`)
  return on_missing === 'keep' ? { forget: archived, keep: unarchived } : { forget: missing.slice(), keep: [] }
}

/** Days of ClickHouse may have the same records as new raw files, and no ids to find the duplicates by. */
function checkNoDays(source: Source, missing: readonly KnownFile[]): void {
  const days = missing.filter(({ name }) => isDay(name))
  const [first] = days
  if (first === undefined) return
  throw new BuildError(
    `source ${JSON.stringify(source.name)}: an engine was asked for ${days.length} days of it, such as ${first.name}, and raw files take ` +
      'their place. Ask that engine again; or say in the sources file "on_missing": "remove" to have what the files hold count ' +
      'alone; or close these dates with tokenboard archive, with that engine, before the files are listed',
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
    `source ${JSON.stringify(source.name)}: ${name} held ${replaces.open_records} records when an earlier build read it ` +
    `and holds ${records} now`
  if (on_missing === 'fail') throw new BuildError(`${what}. ${CHOICES}`)
  onNotice(
    `${what}; on_missing is ${on_missing}: those it held ${on_missing === 'keep' ? 'stay' : 'are not counted any more'}`,
  )
  if (on_missing === 'remove') return { forget: [replaces], keep: [] }
  if (replaces.unidentified_records > 0n) {
    throw new BuildError(
      `${what}; they cannot be kept beside each other, for ${replaces.unidentified_records} of them have no request_id to ` +
        'tell copies by. Put the file back, give the new one another name, or set on_missing to remove',
    )
  }
  if (!isKept && replaces.identified_records > 0n) {
    throw new BuildError(
      `${what}; they cannot be kept, for on_missing was not keep when they were read. Put the file back, give the new one ` +
        'another name, or set on_missing to remove',
    )
  }
  return { forget: [], keep: [replaces] }
}

const CHOICES =
  'Put the files back; or say in the sources file "on_missing": "keep" to keep their records, or "remove" to drop them; or close ' +
  'their dates with tokenboard archive before the files go'

function describe(files: readonly KnownFile[]): string {
  const names = files.slice(0, NAMES_SHOWN).map((file) => `${file.name} (${file.open_records} records)`)
  const more = files.length > NAMES_SHOWN ? ` and ${files.length - NAMES_SHOWN} more files` : ''
  return `${names.join(', ')}${more}`
}
