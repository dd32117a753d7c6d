import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { namesIn } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { ruleOf } from '../contract/disclosure.ts'
import type { Coverage, CoverageDay, CoverageMonth } from '../contract/ledger.ts'
import { DATASET_PATH, releasePath } from '../contract/manifest.ts'
import { COVERAGE_PATH, EVENTS_PATH, PERIOD_FORMATS } from '../contract/published-paths.ts'
import { advance, type Period, periodsOf, placeOf } from '../dataset/coverage.ts'
import { coverageChange, type Fact, nameOf } from '../ledger/fact.ts'
import { Ledger } from '../ledger/ledger.ts'
import { NO_EVENTS, readEvents, verifyEvents } from '../release/events.ts'
import { currentEntry, readIndex, standingReleases } from '../release/index.ts'
import { readCoverage, readRestatements } from '../release/ledger.ts'
import { loadRelease, readManifest } from '../release/verify.ts'
import { missing } from './compare.ts'
import { isSwitching, type PublicFolder } from './public-folder.ts'
import { readRevision } from './verify-periods.ts'

/**
 * Rebuilds a lost ledger from the public folder. Throws `CliError` if there is a ledger or no release, `BuildError` under a
 * disclosure rule, because the dates that it froze are lost, too.
 */
export async function makeLedger(
  { publicDir, dataDir, files, signing }: PublicFolder,
  database: Database,
): Promise<void> {
  const ledger = await Ledger.open(dataDir, files)
  if (!ledger.isEmpty) throw new CliError(`--from-public: ${ledger.folder} is there; leave the option out`)
  const index = await readIndex(publicDir)
  const current = currentEntry(index)
  if (current === undefined) throw new CliError(`--from-public: ${publicDir} has no release`)
  const { disclosure, synthetic } = await readManifest(join(publicDir, releasePath(current.release)))
  if (ruleOf(disclosure) !== undefined) {
    throw new BuildError(
      `--from-public: ${current.release} was made under a disclosure rule, and what the rule keeps secret cannot be made ` +
        `again: restore ${dataDir} from a backup`,
    )
  }
  if (await isSwitching(publicDir)) throw new BuildError(`--from-public: ${publicDir} was left by a stopped command`)
  const events = (await readEvents(publicDir)) ?? NO_EVENTS
  verifyEvents(events, index, join(publicDir, EVENTS_PATH))
  const published = await readCoverage(publicDir)
  if (published === undefined) throw missing(join(publicDir, COVERAGE_PATH))
  const facts: Fact[] = []
  let before: Coverage | undefined
  for (const release of standingReleases(index).slice(0, -1)) {
    const coverage = advance(before, await loadRelease(database, join(publicDir, releasePath(release))))
    const found = await withRevisions(publicDir, before, coverage, database)
    facts.push({ kind: 'public', at: signing.at, coverage: coverageChange(before, found) })
    before = found
  }
  facts.push({
    kind: 'public',
    at: signing.at,
    ...(synthetic && { synthetic }),
    entries: index.releases,
    events: events.events,
    coverage: coverageChange(before, published),
    restatements: (await readRestatements(publicDir)).restatements,
  })
  await ledger.replace(facts)
}

/** A coverage with the numbers that its revisions have: withdrawn releases may have made others. */
async function withRevisions(
  publicDir: string,
  before: Coverage | undefined,
  after: Coverage,
  database: Database,
): Promise<Coverage> {
  const known = new Map(before && periodsOf(before).map((each) => [placeOf(each), each]))
  const numbered = <Entry extends CoverageDay | CoverageMonth>(folder: Period['folder'], entries: readonly Entry[]) =>
    sideBySide(entries, async (entry): Promise<Entry> => {
      const name = nameOf(entry)
      if (known.get(placeOf({ folder, name }))?.content_hash === entry.content_hash) return entry
      const place = join(publicDir, DATASET_PATH, folder, name)
      const [format] = PERIOD_FORMATS[folder]
      for (const file of (await namesIn(place)).filter((each) => each.endsWith(format)).sort()) {
        const { hash } = await readRevision(join(place, file), { format, name }, database)
        if (hash === entry.content_hash) return { ...entry, revision: Number.parseInt(file.slice(1), 10) }
      }
      return entry
    })
  return { ...after, days: await numbered('daily', after.days), months: await numbered('monthly', after.months) }
}
