import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { CHECKSUMS_FILE } from '../base/checksums.ts'
import { hashOfCode } from '../base/code.ts'
import { DUCKDB_VERSION } from '../base/database.ts'
import type { BuildEvent, Effects } from '../base/effects.ts'
import { type Files, namesIn, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, toJsonPieces } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { type Publisher, provisionalFrom, releasePath } from '../contract/manifest.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import { writeQuality } from '../dataset/records.ts'
import type { FoundFiles } from '../raw/files/find.ts'
import type { Sources } from '../raw/sources.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { readManifest } from '../release/verify.ts'
import type { Intake } from '../rollup/intake.ts'
import { readingOf } from '../rollup/reading.ts'
import { fingerprint } from '../rollup/state.ts'
import { readUsageLines, type UsageLines, writeUsage } from '../rollup/usage.ts'
import type { Workspace } from '../rollup/workspace.ts'

/** A cache in the state folder. */
const LAST_BUILD_FILE = 'last-build.json'

const LastBuild = z.object({
  basis: z.string(),
  /** What a build says if nothing changed: its notices, its summary, and `quality.json` without `as_of`. */
  events: z.array(z.custom<BuildEvent>()),
  summary: z.custom<object>(),
  quality: z.custom<object>(),
  /** Of `usage.ndjson` without its header, which has `as_of`. */
  usage_sha256: z.string(),
})

/** What the last build said. A build on the same basis says it again, and reads and ranks nothing. */
type LastBuild = z.infer<typeof LastBuild>

/** What a build reads besides the folders of its workspace. */
export interface Given {
  sources: Sources
  found: readonly FoundFiles[]
  publisher: Publisher
  asOf: Date
  lastCredible: UtcDate
}

type Folders = Pick<Workspace, 'database' | 'stateDir' | 'archiveDir' | 'keptDir' | 'publicDir' | 'secret'>

/**
 * The hash of all that decides what a build finds and says: the program, settings, raw files, state, archive, releases and
 * dates, but not the hour. Undefined if another database has to be asked.
 */
export async function basisOf(folders: Folders, given: Given): Promise<string | undefined> {
  const { sources, found, publisher, asOf, lastCredible } = given
  if (sources.engine.kind !== 'duckdb') return undefined
  const { database, stateDir, archiveDir, keptDir, publicDir, secret } = folders
  const index = await readIndex(publicDir)
  const current = currentEntry(index)
  return hashOfValue({
    program: [hashOfCode(), DUCKDB_VERSION, process.version],
    dates: [mostRecentCompletedDay(asOf), provisionalFrom(toTimestamp(asOf)), lastCredible],
    settings: [sources, publisher, publicDir, await secret.fingerprint()],
    readings: sources.sources.map((source) => readingOf(source)),
    files: found.map(({ files }) =>
      files.map(({ name, bytes, modified, columns }) => [name, bytes, modified, columns]),
    ),
    state: [
      await fingerprint(database),
      await sortedNames(stateDir, 'rejects'),
      await sortedNames(stateDir, 'records'),
    ],
    archive: [await checksumsIn(archiveDir), await checksumsIn(keptDir)],
    releases: [index, current && (await readManifest(join(publicDir, releasePath(current.release))))],
  })
}

function hashOfValue(value: unknown): string {
  const text = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part))
  return hash('sha256', text)
}

async function sortedNames(stateDir: string, folder: string): Promise<string[]> {
  return (await namesIn(join(stateDir, folder))).sort()
}

/** The checksums of each folder in a folder. */
async function checksumsIn(folder: string): Promise<[string, string | undefined][]> {
  const names = (await namesIn(folder)).sort()
  return sideBySide(names, async (name) => [name, await readTextIfAny(join(folder, name, CHECKSUMS_FILE))])
}

/** The last build, if it was on this basis, and the usage of keys that it wrote is still there. */
export async function readLastBuild(
  { stateDir, dataDir }: { stateDir: string; dataDir: string },
  basis: string | undefined,
): Promise<{ last: LastBuild; usage: UsageLines } | undefined> {
  if (basis === undefined) return undefined
  const last = LastBuild.safeParse(jsonIfAny(await readTextIfAny(join(stateDir, LAST_BUILD_FILE)))).data
  if (last?.basis !== basis) return undefined
  const usage = await readUsageLines(dataDir)
  return usage === undefined || hash('sha256', usage.text) !== last.usage_sha256 ? undefined : { last, usage }
}

/** Keeps what this build says, unless it tells news: the next one has to find out whether they still hold. */
export async function keepLastBuild(
  stateDir: string,
  { usage, ...build }: Omit<LastBuild, 'usage_sha256'> & { usage: UsageLines },
  files: Files,
): Promise<void> {
  if (build.events.some(isNews)) return
  const last: LastBuild = { ...build, summary: withoutNews(build.summary), usage_sha256: hash('sha256', usage.text) }
  await replaceFile(files, join(stateDir, LAST_BUILD_FILE), toJsonPieces(last))
}

/** The summary of a build that finds nothing new after the one of this summary. */
function withoutNews(summary: object): object {
  const {
    data_version: _,
    restated: _dates,
    dropped: _releases,
    new_chain: _chain,
    ...facts
  } = { ...NO_NEWS, ...summary }
  return { ...facts, outcome: 'unchanged' }
}

/** What a summary has only if there is a new release, or releases were dropped. */
const NO_NEWS = { data_version: undefined, restated: undefined, dropped: undefined, new_chain: undefined }

/** Says again what the last build said, as of now. */
export async function repeatBuild(
  { last, usage }: { last: LastBuild; usage: UsageLines },
  { asOf, config }: Pick<Intake, 'asOf' | 'config'>,
  stateDir: string,
  { files, report }: Effects,
): Promise<void> {
  report({ kind: 'stage', stage: 'read' })
  for (const event of last.events) report(event)
  await writeQuality(last.quality, asOf, stateDir, files)
  await writeUsage(usage, asOf, config.dataDir, files)
}

/** Whether a build that finds nothing new may have to say this, too. */
export function isToldAgain(event: BuildEvent): boolean {
  return event.kind === 'notice' || event.kind === 'counted' || (event.kind === 'done' && event.stage === 'rank')
}

function isNews(event: BuildEvent): boolean {
  return event.kind === 'notice' && event.isNews === true
}
