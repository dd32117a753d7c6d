import { dirname, join } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { CliError } from '../base/errors.ts'
import { isThere, readIfAny } from '../base/files.ts'
import { toJson } from '../base/json.ts'
import { DisclosureSettings } from '../contract/disclosure.ts'
import type { Publisher } from '../contract/manifest.ts'
import type { SanityCheck } from '../raw/check-names.ts'
import { entryOf } from '../raw/model-names.ts'
import { sourcesPath } from '../rollup/intake.ts'
import type { DiagnosedSource } from './doctor.ts'

const { revise: _, ...DEFAULT_DISCLOSURE } = DisclosureSettings.parse({})

/** The rule that is written where customers are known. */
export { DEFAULT_DISCLOSURE }

/**
 * Sanity checks that stop a release under a rule: a date that lacks the late logs of a source would be published for good.
 */
const BLOCKING: readonly SanityCheck[] = ['collapsed_day', 'silent_source']

/** What a maintainer decided. */
export interface Decisions {
  sources: readonly DiagnosedSource['entry'][]
  models: readonly string[]
  public: ReadonlySet<string>
  /** Undefined if the file stays as it is. */
  publisher: Publisher | undefined
  /** The rule that protects customers, or that there is none. */
  disclosure: typeof DEFAULT_DISCLOSURE | 'none'
  /** Undefined for the default. */
  maxRejectedShare: number | undefined
}

export interface ConfigurationFile {
  path: string
  content: string
}

type Places = Pick<PipelineConfig, 'sources' | 'dataDir'>

function placesOf(config: Places): Record<'sources' | 'models' | 'publisher', string> {
  const sources = sourcesPath(config)
  return { sources, models: join(dirname(sources), 'models.json'), publisher: join(config.dataDir, 'publisher.json') }
}

/** Throws `CliError` that names the files that would be overwritten. */
export async function checkFree(config: Places): Promise<void> {
  const { sources, models } = placesOf(config)
  const there: string[] = []
  for (const path of [sources, models]) if (await isThere(path)) there.push(path)
  if (there.length === 0) return
  throw new CliError(
    `nothing was changed: ${there.join(' and ')} exist${there.length === 1 ? 's' : ''}. --force writes new ones; ` +
      'SOURCES=OTHER/sources.json writes elsewhere; make models adds models to an existing file',
  )
}

/** The three files that a build reads. */
export function configurationFiles(config: Places, decisions: Decisions): ConfigurationFile[] {
  const places = placesOf(config)
  const { sources, models, publisher, maxRejectedShare, disclosure } = decisions
  const entries = models.map((model) => entryOf(model, decisions.public.has(model)))
  const limit = maxRejectedShare === undefined ? {} : { max_rejected_share: maxRejectedShare }
  const blocking = disclosure === 'none' ? {} : { blocking: BLOCKING }
  return [
    { path: places.models, content: toJson(entries) },
    ...(publisher === undefined ? [] : [{ path: places.publisher, content: toJson(publisher) }]),
    { path: places.sources, content: toJson({ models: 'models.json', ...limit, disclosure, ...blocking, sources }) },
  ]
}

/** Writes all files or none. */
export async function writeConfiguration(
  contents: readonly ConfigurationFile[],
  { files, signal }: Pick<Effects, 'files' | 'signal'>,
): Promise<void> {
  const next = (path: string) => `${path}.next`
  const previous = new Map<string, Buffer | undefined>()
  try {
    for (const { path, content } of contents) {
      await files.makeFolder(dirname(path))
      await files.write(next(path), content)
    }
    signal.throwIfAborted()
    for (const { path } of contents) {
      const bytes = await readIfAny(path)
      await files.rename(next(path), path)
      previous.set(path, bytes)
    }
  } catch (error) {
    for (const [path, bytes] of previous) await (bytes === undefined ? files.remove(path) : files.write(path, bytes))
    throw error
  } finally {
    for (const { path } of contents) await files.remove(next(path))
  }
}
