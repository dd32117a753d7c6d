import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { hashContent } from '../raw/files/content.ts'
import { findInputFiles, type InputFile } from '../raw/files/find.ts'
import { recognize } from '../raw/files/recognize.ts'
import type { Sources } from '../raw/sources.ts'
import type { InputName } from './input-names.ts'
import type { Input } from './inputs.ts'

export interface FrozenSources {
  sources: Sources
  excluded: string[]
}

/**
 * Keeps only files whose content was an input of the release, by any name, but those first that had its name. Disables
 * checks that the release passed.
 */
export async function freezeSources(
  sources: Sources,
  inputs: readonly Input[],
  nameOf: InputName,
  { signal, report }: Pick<Effects, 'signal' | 'report'>,
): Promise<FrozenSources> {
  if (sources.engine.kind !== 'duckdb') return { sources: { ...sources, max_rejected_share: 1 }, excluded: [] }
  const found: Input[] = []
  const excluded: string[] = []
  for (const each of sources.sources) {
    const source = each.name
    const { files } = await findInputFiles(each, sources)
    const hashes = await sideBySide(files, (file) => hashIfWhole(file, { signal, report }))
    for (const [position, { name: file }] of files.entries()) {
      const sha256 = hashes[position]
      if (sha256 === undefined) excluded.push(file)
      else found.push({ source, file, sha256: nameOf({ source, file, sha256 }) })
    }
  }
  const listed = new Set(inputs.map(keyOf))
  const wanted = new Map([...Map.groupBy(inputs, ({ sha256 }) => sha256)].map(([hash, { length }]) => [hash, length]))
  const frozen = new Map(sources.sources.map(({ name }) => [name, new Set<string>()]))
  for (const input of found.toSorted((a, b) => Number(listed.has(keyOf(b))) - Number(listed.has(keyOf(a))))) {
    const times = wanted.get(input.sha256) ?? 0
    if (times > 0) frozen.get(input.source)?.add(input.file)
    else excluded.push(input.file)
    wanted.set(input.sha256, Math.max(0, times - 1))
  }
  const wanting = [...wanted.values()].reduce((sum, times) => sum + times, 0)
  if (wanting > 0) {
    const message = `${wanting} of ${inputs.length} inputs of the release are no files of the sources now; the archive may have them`
    report({ kind: 'notice', message })
  }
  return { sources: { ...sources, chosen: frozen, max_rejected_share: 1 }, excluded: excluded.sort() }
}

function keyOf({ sha256, source, file }: Input): string {
  return JSON.stringify([sha256, source, file])
}

/** Skips a truncated file with a notice: it cannot have been an input. */
async function hashIfWhole(
  file: InputFile,
  { signal, report }: Pick<Effects, 'signal' | 'report'>,
): Promise<string | undefined> {
  try {
    return await hashContent(await recognize(file), signal)
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    report({ kind: 'notice', message: error.message })
    return undefined
  }
}
