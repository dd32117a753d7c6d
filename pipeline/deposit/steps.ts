import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import type { Deposit } from '../contract/deposits.ts'
import type { ReleaseName } from '../contract/manifest.ts'
import { type RecordBody, recordOf } from './metadata.ts'
import type { DepositedFile, DepositedRelease } from './release.ts'
import type { Repository, RepositoryRecord, StoredFile } from './repository.ts'
import type { DepositState } from './state.ts'

interface Job {
  repository: Repository
  state: DepositState
  released: DepositedRelease
  /** False to stop before the record is published. */
  publish: boolean
  report: Effects['report']
  /** Called whenever something is done that need not be done again. */
  onStep: () => void
}

/**
 * Continues a deposit from its current state until the record is published, or until the draft could be. Asks the
 * repository first, so it can be called again after any error. Throws `BuildError` for what a person has to decide.
 */
export async function carryOut(job: Job): Promise<void> {
  const { repository, released, publish } = job
  await settleOthers(job)
  const found = await findOrMake(job)
  if (found.is_published) return finish(job, found)
  const described = await describe(job, found)
  const draft = await reserveDoi(job, described)
  await uploadFiles(job, draft)
  if (publish) await finish(job, await repository.publish(draft.id))
  else job.report({ kind: 'done', stage: 'draft', detail: `${released.manifest.release}, ${draft.links.self_html}` })
}

/** Two drafts at a time could become two records, or versions in another order than the releases. */
async function settleOthers({ repository, state, released }: Job): Promise<void> {
  const { release } = released.manifest
  for (const [other, deposit] of Object.entries(state.deposits.releases)) {
    if (other === release || deposit.state === 'published') continue
    const draft = await repository.draft(deposit.id)
    if (draft !== undefined && !draft.is_published) {
      throw new BuildError(
        `the deposit of ${other} is not finished: finish it with ${state.commandFor(other, { publish: true })}, ` +
          `or discard its draft, ${deposit.url}`,
      )
    }
    const record = await repository.record(deposit.id)
    if (record === undefined) await state.forget(other)
    else await notePublished(state, other, record)
  }
  state.checkIsNewest(release)
}

/** The draft or the record of the release. No second one is made: an answer with an id may have been lost. */
async function findOrMake(job: Job): Promise<RepositoryRecord> {
  const { repository, state, released, report } = job
  const { release } = released.manifest
  const known = state.of(release)
  if (known !== undefined) {
    const standing = (await repository.draft(known.id)) ?? (await repository.record(known.id))
    if (standing !== undefined) return standing
    report({ kind: 'notice', message: `the draft ${known.url} is not in the repository any more; a new one is made` })
    await state.forget(release)
  }
  const body = recordOf(released.manifest)
  const own = await findOwn(job, body)
  if (own !== undefined) return noteDraft(job, own, 'draft')
  const [, previous] = state.newestPublished() ?? []
  const made = previous === undefined ? await repository.create(body) : await repository.newVersion(previous.id)
  const isDescribed = previous === undefined && problemsOf(made).length === 0
  return noteDraft(job, made, isDescribed ? 'described' : 'draft')
}

/** A record with the page of this release as its identifier, or the draft of the next version. */
async function findOwn({ repository, state }: Job, { metadata }: RecordBody): Promise<RepositoryRecord | undefined> {
  const { concept_id } = state.deposits
  const page = metadata.identifiers[0]?.identifier ?? ''
  const hits = await repository.own('metadata.identifiers.identifier', page, { allversions: true })
  // The words of a query may match other records, too.
  const ofRelease = hits.filter((hit) => hit.metadata.identifiers.some(({ identifier }) => identifier === page))
  const record = ofRelease.find(({ is_published }) => is_published)
  if (record !== undefined || concept_id === null) return record ?? ofRelease[0]
  const newest = await repository.own('parent.id', concept_id, { allversions: false })
  return newest.find(({ is_published, parent }) => !is_published && parent.id === concept_id)
}

async function describe(job: Job, draft: RepositoryRecord): Promise<RepositoryRecord> {
  const { repository, state, released } = job
  const { release } = released.manifest
  // What a person has changed in a draft stays.
  if (state.of(release)?.state === 'described') return draft
  const described = await repository.describe(draft, recordOf(released.manifest))
  const problems = problemsOf(described)
  if (problems.length > 0) {
    throw repository.refusal(`${repository.url} does not accept the metadata of ${release}:`, problems)
  }
  return noteDraft(job, described, 'described')
}

/** Drafts without files have an error that says so. */
function problemsOf({ errors }: RepositoryRecord): RepositoryRecord['errors'] {
  return errors.filter(({ field }) => !field.startsWith('files'))
}

async function reserveDoi(job: Job, draft: RepositoryRecord): Promise<RepositoryRecord> {
  const reserved = draft.pids.doi === undefined ? await job.repository.reserveDoi(draft.id) : draft
  if (reserved.pids.doi === undefined) throw new BuildError(`${job.repository.url} reserves no DOI for ${draft.id}`)
  return noteDraft(job, reserved, 'described')
}

async function noteDraft(job: Job, draft: RepositoryRecord, state: Deposit['state']): Promise<RepositoryRecord> {
  if (draft.is_published) return draft
  const { id, pids, links, parent } = draft
  const deposit = { id, state, doi: pids.doi?.identifier ?? null, url: links.self_html }
  const { release } = job.released.manifest
  if (JSON.stringify(job.state.of(release)) !== JSON.stringify(deposit)) {
    await job.state.note(release, deposit, { concept_id: parent.id })
    job.onStep()
  }
  return draft
}

async function uploadFiles(job: Job, { id, links }: RepositoryRecord): Promise<void> {
  const { repository, released, report, onStep } = job
  const { files, bytes } = released
  const there = new Map((await repository.draftFiles(id)).map((file) => [file.key, file]))
  const stray = strayOf(released, there)
  if (stray !== undefined) {
    throw new BuildError(
      `the draft ${links.self_html} has a file that is not of the release, ${stray}; remove it there`,
    )
  }
  const missing = files.filter((file) => !isStored(file, there.get(file.key)))
  for (const { key } of missing) if (there.get(key)?.status === 'completed') await repository.removeFile(id, key)
  const toStart = missing.filter(({ key }) => (there.get(key)?.status ?? 'completed') === 'completed')
  if (toStart.length > 0) {
    await repository.startFiles(
      id,
      toStart.map(({ key }) => key),
    )
    onStep()
  }
  let sent = bytes - sum(missing)
  const onBytes = (count: number) => {
    sent += count
    report({ kind: 'progress', stage: 'upload', share: bytes === 0 ? 1 : sent / bytes, bytes })
  }
  for (const file of missing) {
    await repository.upload(id, file.key, { ...file, onBytes })
    verifyStored(file, await repository.commitFile(id, file.key))
    onStep()
  }
  report({ kind: 'done', stage: 'upload', detail: `${counted(files.length, 'file')}, with equal checksums` })
}

function sum(files: readonly DepositedFile[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}

/** A file that is stored and is not one of the release. */
function strayOf({ files }: DepositedRelease, stored: ReadonlyMap<string, StoredFile>): string | undefined {
  return [...stored.keys()].find((key) => !files.some((file) => file.key === key))
}

function isStored({ bytes, md5 }: DepositedFile, stored: StoredFile | undefined): boolean {
  return stored?.status === 'completed' && stored.checksum === `md5:${md5}` && stored.size === bytes
}

function verifyStored(file: DepositedFile, stored: StoredFile | undefined): void {
  if (isStored(file, stored)) return
  const has = stored === undefined ? 'nothing' : `${stored.size} bytes with ${stored.checksum}`
  throw new BuildError(
    `the repository stored ${has} as ${file.key}, which has ${file.bytes} bytes with md5:${file.md5}`,
  )
}

/** Compares the files of a published record, and notes its DOIs. */
async function finish(job: Job, record: RepositoryRecord): Promise<void> {
  const { repository, state, released, report } = job
  const { release } = released.manifest
  const stored = new Map((await repository.publishedFiles(record.id)).map((file) => [file.key, file]))
  const stray = strayOf(released, stored)
  if (stray !== undefined)
    throw new BuildError(`${record.links.self_html} has a file that is not of the release, ${stray}`)
  for (const file of released.files) verifyStored(file, stored.get(file.key))
  await notePublished(state, release, record)
  report({ kind: 'done', stage: 'publish', detail: `${release}, doi:${record.pids.doi?.identifier}` })
}

async function notePublished(state: DepositState, release: ReleaseName, record: RepositoryRecord): Promise<void> {
  const { id, pids, parent, links } = record
  if (pids.doi === undefined) throw new BuildError(`${links.self_html} is published without a DOI`)
  const concept_doi = parent.pids.doi?.identifier ?? state.deposits.concept_doi
  const deposit: Deposit = { id, state: 'published', doi: pids.doi.identifier, url: links.self_html }
  await state.note(release, deposit, { concept_id: parent.id, concept_doi })
}
