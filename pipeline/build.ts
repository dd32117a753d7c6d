import { join, resolve } from 'node:path'
import type { PipelineConfig } from './base/config.ts'
import type { Database } from './base/database.ts'
import type { BuildEvent, Effects } from './base/effects.ts'
import { BuildError, CliError, reasonOf, withAllFaults } from './base/errors.ts'
import { replaceFile } from './base/files.ts'
import { parseFlag, toJson } from './base/json.ts'
import { counted } from './base/numbers.ts'
import { type BuildSummary, summarize } from './build-summary.ts'
import { DISCLOSURE_FILE } from './contract/disclosure-file.ts'
import type { Doi } from './contract/doi.ts'
import {
  type Manifest,
  type Publisher,
  type ReleaseIndex,
  type ReleaseName,
  releaseName,
  releasePath,
} from './contract/manifest.ts'
import { toTimestamp } from './contract/ranking.ts'
import { RestatementNote, type RestatementReason } from './contract/reason.ts'
import type { Retention } from './contract/retention.ts'
import { DATASET_START, mostRecentCompletedDay, type UtcDate } from './contract/utc-date.ts'
import { changedFacts, compareTables } from './dataset/changes.ts'
import {
  type Acceptable,
  assertInvariants,
  checkNothingBlocks,
  findOddities,
  LOST_HISTORY,
  readAccepted,
  toWarning,
} from './dataset/checks.ts'
import { reportNoCustomers } from './dataset/disclosure.ts'
import { firstDates } from './dataset/first-dates.ts'
import { refuseNewReading } from './dataset/new-reading.ts'
import { refuseOldCounts } from './dataset/old-counts.ts'
import { checkNote, isPair, judgePairs, rememberPairs } from './dataset/overlapping-sources.ts'
import { checkWithheldShare, describeUnknown, measureShare } from './dataset/published-share.ts'
import { Account } from './dataset/quality.ts'
import { type Ranking, type RankingRule, rank } from './dataset/rank.ts'
import {
  checkRejectedShare,
  countRecords,
  nothingToPublish,
  outsideDays,
  reportCounts,
  writeQuality,
} from './dataset/records.ts'
import { restatedBy } from './dataset/restated.ts'
import { checkReadable, toFindings } from './dataset/unreadable.ts'
import type { Ledger } from './ledger/ledger.ts'
import { type ChosenChain, findChain, keepChain } from './publication/chosen-chain.ts'
import { makeLedger } from './publication/from-public.ts'
import { basisOf, isToldAgain, keepLastBuild, readLastBuild, repeatBuild } from './publication/last-build.ts'
import { abandonStaging, isSwitching, openFolder, openStaging, type PublicFolder } from './publication/public-folder.ts'
import { openLedger, publish, publishDropped, recover } from './publication/publish.ts'
import { factsToKeep, keepDates, type ReleaseDraft, stageDraft } from './publication/release-draft.ts'
import { checkRetention, toDrop } from './publication/retention.ts'
import { openSigning } from './publication/signing.ts'
import { factsOfPublished } from './publication/size.ts'
import { describeUnread } from './raw/files/unread.ts'
import type { Sources } from './raw/sources.ts'
import { changesSince } from './release/changed-rows.ts'
import { disclose, disclosureDetail, nothingSafe } from './release/disclosed.ts'
import { type CurrentRelease, type DisclosureControl, openControl, rankingRule } from './release/disclosure-control.ts'
import { readOwnDois } from './release/dois.ts'
import { type DraftChanges, describeChanges, type Explanation } from './release/draft-changes.ts'
import { checkNotBefore, currentEntry, standingReleases } from './release/index.ts'
import { publicHashes } from './release/input-names.ts'
import { type Input, keepFacts, unreadableIn, warningsOf } from './release/inputs.ts'
import type { Ingredients } from './release/provenance.ts'
import { readPublisher } from './release/publisher.ts'
import { readBack } from './release/read-back.ts'
import { draftManifest } from './release/stage.ts'
import { loadRelease, readManifest, verifyRelease } from './release/verify.ts'
import { contributorFacts, protectionOf } from './rollup/contributors.ts'
import { measureContributors } from './rollup/disclosure-report.ts'
import { setAside } from './rollup/forms.ts'
import {
  chooseSources,
  type Intake,
  isSynthetic,
  leaveSample,
  namedSources,
  type OpenedEngine,
  openEngine,
  readRecords,
} from './rollup/intake.ts'
import { forgetRereads, wasReread } from './rollup/state.ts'
import { KeySpendLedger, type UsageLines, usageLines, writeUsage } from './rollup/usage.ts'
import { type Workspace, withScratch, withWorkspace } from './rollup/workspace.ts'
import { embeddingsModels } from './site/api.ts'

/** The options of one build. */
export interface BuildOptions {
  /** Sanity checks whose findings the maintainer accepts this time. They do not stop the release. */
  accept?: readonly string[]
  dryRun?: boolean
  /** Why final numbers change, and a sentence about it. Both are published with the restatement. */
  reason?: RestatementReason | undefined
  note?: string | undefined
  newChain?: boolean
  reread?: readonly UtcDate[]
  /** The file of a key in force, which signs for the key in SIGNING_KEY_FILE. */
  rotateWith?: string | undefined
  /** Make a lost ledger from what is published. */
  fromPublic?: boolean
}

/**
 * Builds the dataset from its sources: ingest -> rollup -> rank -> checks -> release. If the build stops at any
 * point, the previous release stays current. Throws `CliError` for wrong settings and sources, `BuildError` for input
 * that cannot be published.
 */
export async function build(
  config: PipelineConfig,
  effects: Effects,
  {
    accept = [],
    dryRun = false,
    reason,
    note,
    newChain = false,
    reread = [],
    rotateWith,
    fromPublic,
  }: BuildOptions = {},
): Promise<BuildSummary> {
  const asOf = config.asOf ?? effects.now()
  const lastDate = mostRecentCompletedDay(asOf)
  if (lastDate < DATASET_START) {
    throw new CliError(`AS_OF ${toTimestamp(asOf)} is before the dataset begins, ${DATASET_START}`)
  }
  const { dataDir } = config
  const accepted = readAccepted(accept)
  checkNote(accepted, note)
  const text = note === undefined ? undefined : parseFlag('--note', RestatementNote, note)
  const isOfPair = accepted.some(isPair)
  const explanation = { reason, note: (isOfPair ? undefined : text) ?? null, noteOfPairs: isOfPair ? text : undefined }
  const signing = await openSigning(config, { at: toTimestamp(asOf), signal: effects.signal, accepted, rotateWith })
  if (accepted.includes(LOST_HISTORY) && !dryRun) await reportSetAside(config, effects)
  const withFolders = dryRun ? withScratch : withWorkspace
  return withFolders(config, effects, async (workspace) => {
    const { database, folder, publicDir, stateDir, secret } = workspace
    const published = openFolder(workspace, config, effects, signing)
    if (fromPublic === true) await makeLedger(published, database)
    const { ledger, completed } = dryRun
      ? { ledger: await openLedger(published, { newChain }), completed: false }
      : await recover(published, database, { newChain })
    const { index } = ledger.now
    const named = await readSettings(config)
    const synthetic = await isSynthetic(named)
    const chain = await findChain(index, { config, synthetic, publicDir, newChain, completed, dryRun }, effects)
    checkNotBefore(asOf, chain.index)
    const publisher = await readPublisher(dataDir, synthetic)
    const sampleFolder = dryRun ? join(folder, 'sample') : resolve(dataDir, 'raw/sample')
    const sources = await chooseSources({ named, synthetic, config }, sampleFolder, lastDate, effects)
    checkRetention(chain.index, sources.retention)
    for (const message of await describeUnread(sources)) effects.report({ kind: 'notice', message })
    const current = await findCurrent(index, publicDir, synthetic, database)
    const kept = { dataDir, synthetic, secret, report: effects.report }
    const protection = protectionOf(sources)
    const facts = contributorFacts(sources)
    const control = await openControl(sources.disclosure, { ...kept, protection, facts, current, accepted })
    const credit = {
      publisher,
      conceptDoi: synthetic ? undefined : ((await readOwnDois(dataDir))?.concept_doi ?? undefined),
    }
    const intake = { config, asOf, sources, synthetic, ...credit, reread, control, mayFollowSample: !synthetic }
    const opened = await openEngine(workspace, intake, effects)
    const isPlain = !synthetic && !dryRun && !newChain && control.dates === undefined && accepted.length === 0
    const readBasis = async () => (isPlain ? basisOf(workspace, { ...intake, ...opened }) : undefined)
    const known = await readLastBuild({ stateDir, dataDir }, await readBasis())
    if (known !== undefined) {
      await repeatBuild(known, intake, stateDir, effects)
      return { ...(known.last.summary as BuildSummary), ...(await factsOfPublished(publicDir)) }
    }
    const events: BuildEvent[] = []
    const report = (event: BuildEvent) => {
      if (isToldAgain(event)) events.push(event)
      effects.report(event)
    }
    const { draft, usage, quality } = await prepare(workspace, opened, intake, { ...effects, report })
    const summary = await release(
      draft,
      { chain, ledger, folder: published, sources, accepted, dryRun, explanation },
      database,
      { ...effects, report },
    )
    if (dryRun) return summary
    // The release is published: an interrupt must no longer fail the build.
    if (!effects.signal.aborted) await forgetRereads(database)
    await writeUsage(usage, asOf, dataDir, effects.files)
    const basis = effects.signal.aborted ? undefined : await readBasis()
    if (basis !== undefined) await keepLastBuild(stateDir, { basis, events, summary, quality, usage }, effects.files)
    return { ...summary, ...(await factsOfPublished(publicDir)) }
  })
}

async function reportSetAside({ dataDir, publicDir }: PipelineConfig, { files, report }: Effects): Promise<void> {
  const folders = await setAside({ dataDir, publicDir }, files)
  const message = `moved to ${join(dataDir, 'lost-history')}: ${folders.join(', ')}`
  if (folders.length > 0) report({ kind: 'notice', message })
}

/**
 * The named sources, once all files that a maintainer writes are read: an error in one of them must stop the build before
 * it reads raw files. What else `publisher.json` must say depends on the sources.
 */
async function readSettings(config: PipelineConfig): Promise<Sources | undefined> {
  const [named] = await withAllFaults([
    () => namedSources(config),
    () => readPublisher(config.dataDir, true),
    () => embeddingsModels(config.dataDir),
    () => readOwnDois(config.dataDir),
  ])
  return named
}

/** The release that is public now, even if a new chain is to take its place. The sample is forgotten by real releases. */
async function findCurrent(
  index: ReleaseIndex,
  publicDir: string,
  synthetic: boolean,
  database: Database,
): Promise<CurrentRelease | undefined> {
  const entry = currentEntry(index)
  if (entry === undefined) return undefined
  const folder = join(publicDir, releasePath(entry.release))
  const manifest = await readManifest(folder)
  if (manifest.synthetic !== synthetic) return undefined
  return { publicDir, index, manifest, readRows: () => readBack(database, folder, 'daily') }
}

/** What a release is made from, and its `as_of`. */
export interface ReleaseInputs extends Intake {
  publisher: Publisher
  control: DisclosureControl
  /** The DOI of all releases together, if one was deposited. */
  conceptDoi?: Doi | undefined
  /** Whether the state may still be that of the sample, although these sources are real. */
  mayFollowSample?: boolean
}

/** Reads, ranks and checks: everything before the decision whether to make a release. */
export async function prepare(
  workspace: Workspace,
  { engine, archive, lastCredible }: OpenedEngine,
  intake: ReleaseInputs,
  effects: Effects,
): Promise<{ draft: ReleaseDraft; usage: UsageLines; quality: object }> {
  const { database, stateDir } = workspace
  const { asOf, sources, synthetic, publisher, control, conceptDoi } = intake
  const lastDate = mostRecentCompletedDay(asOf)
  const rule = rankingRule(control, lastDate)
  if (intake.mayFollowSample === true) await leaveSample(workspace, archive)
  const account = new Account()
  const usage = new KeySpendLedger()
  const inputs: Input[] = []
  await readRecords(engine, sources, { account, usage, inputs }, effects)
  const ranking = await rankRollup(database, lastDate, rule, effects)
  const { ruled } = ranking
  const records = countRecords(ranking, account)
  const share = await measureShare(database, account, lastDate)
  const isMeasured = !synthetic && control.setting === undefined
  const disclosure = isMeasured ? await measureContributors(database, sources, lastDate, effects) : undefined
  if (rule.rule !== undefined || disclosure !== undefined) await reportNoCustomers(database, effects.report)
  const oddities = await findOddities(database, sources.usageSources, account, ruled !== undefined)
  const findings = [...oddities, ...toFindings(account.unreadable)]
  const warnings = findings.map(toWarning)
  const published_share = share.published
  const quality = { records, published_share, warnings, ...account.detail, outside: outsideDays(ranking) }
  await writeQuality(quality, asOf, stateDir, effects.files)
  await reportCounts({ database, lastCredible, records, account, share }, effects)
  const disclosed = disclose(control, protectionOf(sources), ranking, releaseName(toTimestamp(asOf)))
  if (disclosed !== undefined) {
    await replaceFile(effects.files, join(stateDir, DISCLOSURE_FILE), toJson(disclosureDetail(disclosed)))
  }
  checkRejectedShare(records.read, account, sources.max_rejected_share)
  if (ranking.rows.length === 0) {
    throw new BuildError(
      `${nothingSafe(ruled) ?? nothingToPublish(records, ruled?.last_date ?? lastDate)}${describeUnknown(share)}`,
    )
  }
  await assertInvariants(database, ruled?.last_date ?? lastDate, ruled !== undefined)
  const manifest = draftManifest({
    rows: ranking.rows,
    periods: ranking.periods,
    asOf: toTimestamp(asOf),
    publisher,
    synthetic,
    oldCounts: account.oldCounts,
    conceptDoi,
    disclosure: disclosed?.statement ?? (control.setting === 'none' ? 'none' : undefined),
  })
  const isPrivate = disclosed !== undefined
  const { nameOf, registry } = await publicHashes(sources, isPrivate, workspace)
  const ingredients: Ingredients = {
    inputs: inputs.map((input) => ({ ...input, sha256: nameOf(input) })),
    form: isPrivate ? 'root' : 'counted',
    registry,
    ...(account.hasMisdatedAfter(lastCredible) && { last_credible_date: lastCredible }),
  }
  const measured = { account, records, share, findings, disclosure }
  const draft = { manifest, ranking, names: sources.registry.names, ingredients, ...measured, control, disclosed }
  return { draft, usage: usageLines(usage), quality }
}

async function rankRollup(
  database: Database,
  lastDate: UtcDate,
  rule: RankingRule,
  { report }: Pick<Effects, 'report'>,
): Promise<Ranking> {
  const ranking = await rank(database, lastDate, rule)
  const { published_records, models } = ranking
  report({
    kind: 'done',
    stage: 'rank',
    detail: `${counted(published_records, 'record')} of ${counted(models, 'model')}`,
  })
  return ranking
}

/** Makes the release and switches to it, if it differs from the current one and nothing blocks it. */
async function release(
  draft: ReleaseDraft,
  options: {
    chain: ChosenChain
    ledger: Ledger
    folder: PublicFolder
    sources: Sources
    accepted: readonly Acceptable[]
    dryRun: boolean
    explanation: Pick<BuildOptions, 'reason'> & Pick<Explanation, 'note'> & { noteOfPairs: string | undefined }
  },
  database: Database,
  effects: Effects,
): Promise<BuildSummary> {
  const { ranking, findings } = draft
  const { chain, ledger, folder, sources, accepted, dryRun } = options
  const { noteOfPairs, ...explanation } = options.explanation
  const { index } = chain
  const path = (name: ReleaseName) => join(folder.publicDir, releasePath(name))
  const latest = currentEntry(index)
  const current = latest === undefined ? undefined : await readManifest(path(latest.release))
  if (!draft.manifest.synthetic)
    checkWithheldShare(draft.share, { sources, isFirst: index.releases.length === 0, report: effects.report })
  const facts = changedFacts(current, draft.manifest, ranking.rows)
  const isUnchanged = current !== undefined && facts.length === 0
  const { retention } = sources
  const standing = [...standingReleases(index), ...(isUnchanged ? [] : [draft.manifest.release])]
  const dropped = toDrop(index, standing, retention)
  const retained = dropped.length > 0 && { dropped }
  if (isUnchanged && !dryRun) {
    await keepDates(draft, effects.files)
    if (retained) await publishDropped(folder, { ledger, dropped }, database, effects.signal)
    return { ...summarize('unchanged', current, draft, path(current.release)), ...retained }
  }
  const changes = dryRun && {
    changes: { facts, ...compareTables(current && (await loadRelease(database, path(current.release))), ranking) },
    newest_rows: ranking.rows.filter(({ date }) => date === ranking.rows.at(-1)?.date),
  }
  if (isUnchanged) return { ...summarize('unchanged', current, draft, path(current.release)), ...changes, ...retained }
  if (index.releases.some((entry) => entry.release === draft.manifest.release)) {
    throw new BuildError(
      `there is already a release as of ${draft.manifest.as_of} and its data differ; give a later AS_OF`,
    )
  }
  const published = current === undefined ? [] : await warningsOf(current, path(current.release), folder.dataDir)
  const pairs = await judgePairs(findings, { dataDir: folder.dataDir, accepted, note: noteOfPairs })
  checkNothingBlocks(findings, { blocking: sources.blocking, accepted, published, pairs: pairs.fresh })
  const known = current === undefined ? [] : await unreadableIn(current.release, folder.dataDir)
  checkReadable(draft.account.unreadable, { accepted, published: known })
  const started = chain.replaced.length > 0 && {
    new_chain: { replaced: [...chain.replaced], kept_in: chain.keptIn ?? null },
  }
  const before = current && { folder: path(current.release), manifest: current }
  const rows = await changesSince(before, ranking, database)
  const isFirst = firstDates(current && ledger.now.coverage, draft.manifest)
  const restated = restatedBy(rows, { current, isFirst })
  const isRestated = restated.dates.length + restated.periods.length > 0
  const isNewReading = isRestated && (await wasReread(database))
  const refused = [
    refuseOldCounts(draft.account.oldCounts, draft.manifest, { current, accepted }),
    isNewReading && explanation.reason === undefined ? refuseNewReading(restated, rows, accepted) : undefined,
  ].filter((problem) => problem !== undefined)
  if (refused.length > 0) throw new BuildError(refused.join('\n'))
  const reason = explanation.reason ?? (isNewReading ? 'reading' : 'unspecified')
  const changed = describeChanges({ index, current, facts, explanation: { ...explanation, reason }, isFirst }, rows)
  const restatement = isRestated && { restated: { ...restated, reason } }
  const news = { data_version: changed.facts.data_version, ...restatement, ...started, ...retained }
  if (dryRun) {
    reportStart(chain, effects)
    return { ...summarize('would_release', draft.manifest, draft, path(draft.manifest.release)), ...changes, ...news }
  }
  await rememberPairs(folder.dataDir, pairs.remembered, effects.files)
  const manifest = await publishRelease(draft, { changed, chain, ledger, before, folder, retention }, database, effects)
  reportStart(chain, effects)
  return { ...summarize('released', manifest, draft, path(manifest.release)), ...news }
}

function reportStart({ notice }: ChosenChain, { report }: Effects): void {
  if (notice !== undefined) report({ kind: 'notice', message: notice, isNews: true })
}

async function publishRelease(
  draft: ReleaseDraft,
  {
    changed,
    chain,
    ledger,
    before,
    folder,
    retention,
  }: {
    changed: DraftChanges
    chain: ChosenChain
    ledger: Ledger
    before: { folder: string } | undefined
    folder: PublicFolder
    retention: Retention
  },
  database: Database,
  effects: Effects,
): Promise<Manifest> {
  const { files, report, signal } = effects
  try {
    report({ kind: 'stage', stage: 'release' })
    const staging = await openStaging(folder.publicDir, draft.manifest.release, files)
    const manifest = await stageDraft(draft, { changed, folder: staging, previous: before?.folder }, database, files)
    const loaded = await verifyRelease(database, staging, { made: draft.ranking })
    signal.throwIfAborted()
    await keepDates(draft, files)
    await keepFacts(factsToKeep(draft), { dataDir: folder.dataDir, release: manifest.release, files })
    if (chain.keptIn !== undefined) await keepChain(folder.publicDir, chain.keptIn, effects)
    const { release, rows } = manifest
    const startsChain = chain.replaced.length > 0
    await publish(folder, { path: staging, release, loaded }, { ledger, startsChain, retention }, database, signal)
    report({ kind: 'done', stage: 'release', detail: `${release}, ${counted(rows, 'row')}, every format read back` })
    return manifest
  } catch (error) {
    if (chain.replaced.length === 0 || !(await isSwitching(folder.publicDir))) throw error
    throw new BuildError(
      `the switch to the new chain stopped halfway: ${reasonOf(error)}; the next make build completes it`,
      { cause: error },
    )
  } finally {
    await abandonStaging(folder.publicDir, files)
  }
}
