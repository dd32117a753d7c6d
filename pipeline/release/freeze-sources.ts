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

/** Keeps only files whose content was an input of the release, by any name. Disables checks that the release passed. */
export async function freezeSources(
  sources: Sources,
  inputs: readonly Pick<Input, 'sha256'>[],
  nameOf: InputName,
  { signal, report }: Pick<Effects, 'signal' | 'report'>,
): Promise<FrozenSources> {
  if (sources.engine.kind !== 'duckdb') return { sources: { ...sources, max_rejected_share: 1 }, excluded: [] }
  const wanted = new Map([...Map.groupBy(inputs, ({ sha256 }) => sha256)].map(([hash, { length }]) => [hash, length]))
  const take = (hash: string | undefined) => {
    const name = hash === undefined ? '' : nameOf(hash)
    const times = wanted.get(name) ?? 0
    if (times > 0) wanted.set(name, times - 1)
    return times > 0
  }
  const excluded: string[] = []
  const frozen = new Map<string, ReadonlySet<string>>()
  for (const source of sources.sources) {
    const { files } = await findInputFiles(source, sources)
    const hashes = await sideBySide(files, (file) => hashIfWhole(file, { signal, report }))
    const { kept = [], others = [] } = Object.groupBy(files, (_, position) =>
      take(hashes[position]) ? 'kept' : 'others',
    )
    frozen.set(source.name, new Set(kept.map(({ name }) => name)))
    excluded.push(...others.map(({ name }) => name))
  }
  const wanting = [...wanted.values()].reduce((sum, times) => sum + times, 0)
  if (wanting > 0) {
    const message = `${wanting} of ${inputs.length} inputs of the release are no files of the sources now; the archive may have them`
    report({ kind: 'notice', message })
  }
  return { sources: { ...sources, chosen: frozen, max_rejected_share: 1 }, excluded: excluded.sort() }
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
