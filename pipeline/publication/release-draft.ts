import type { Database } from '../base/database.ts'
import type { Files } from '../base/files.ts'
import { ruleOf } from '../contract/disclosure.ts'
import type { Manifest, ManifestDraft } from '../contract/manifest.ts'
import { bandedQuality } from '../dataset/banded-quality.ts'
import { type Finding, toPublicWarnings } from '../dataset/checks.ts'
import { modelFacts } from '../dataset/model-facts.ts'
import type { Share } from '../dataset/published-share.ts'
import type { Account } from '../dataset/quality.ts'
import type { Ranking } from '../dataset/rank.ts'
import { publicQuality, type RecordCounts } from '../dataset/records.ts'
import type { ModelNames } from '../raw/registry.ts'
import { type Disclosed, disclosureFile } from '../release/disclosed.ts'
import type { DisclosureControl } from '../release/disclosure-control.ts'
import type { DraftChanges } from '../release/draft-changes.ts'
import { type KeptFacts, publishedInputs } from '../release/inputs.ts'
import { type Ingredients, provenanceOf } from '../release/provenance.ts'
import { stageRelease } from '../release/stage.ts'
import type { MeasuredRisk } from '../rollup/disclosure-report.ts'
import { releasePage } from '../site/release-page.ts'
import { releaseTexts } from './release-texts.ts'

/** A release that is being made: what a build knows before it decides whether to publish it. */
export interface ReleaseDraft {
  manifest: ManifestDraft
  ranking: Ranking
  /** The names that the registry has for a model. */
  names: (slug: string) => ModelNames
  ingredients: Ingredients
  account: Account
  records: RecordCounts
  share: Share
  findings: Finding[]
  disclosure?: MeasuredRisk | undefined
  control: DisclosureControl
  /** Undefined if no rule is in force. */
  disclosed: Disclosed | undefined
}

/** Writes all files of the release into an empty folder. */
export async function stageDraft(
  draft: ReleaseDraft,
  { changed, folder, previous }: { changed: DraftChanges; folder: string; previous?: string | undefined },
  database: Database,
  files: Files,
): Promise<Manifest> {
  const manifest = { ...draft.manifest, ...changed.facts }
  const { rows } = draft.ranking
  const periods = manifest.tables && draft.ranking.periods
  const models = modelFacts({ rows, periods }, draft.names)
  const quality = ruleOf(manifest.disclosure) === undefined ? publicQuality(draft) : bandedQuality(manifest, draft)
  const { inputs, form, last_credible_date, registry } = draft.ingredients
  const told = form === 'root' ? { registry } : { registry, last_credible_date }
  const provenance = provenanceOf(manifest, { ...told, inputs: publishedInputs(inputs, form) })
  const disclosure = draft.disclosed && disclosureFile(manifest, draft.disclosed)
  const texts = releaseTexts({ rows, changes: changed.rows, models, quality, disclosure, provenance })
  const page = (listed: Manifest) => releasePage(listed, { rows, changes: changed.rows, quality })
  return stageRelease({ draft: manifest, rows, periods, texts, page, folder, previous }, database, files)
}

/** The inputs, and what is not published under a disclosure rule because it tells about single dates. */
export function factsToKeep({ ingredients, findings, account: { unreadable } }: ReleaseDraft): KeptFacts {
  const { form, last_credible_date } = ingredients
  const inputs = { inputs: ingredients.inputs, ...(unreadable.length > 0 && { unreadable }) }
  if (form !== 'root') return inputs
  return { ...inputs, warnings: toPublicWarnings(findings), ...(last_credible_date && { last_credible_date }) }
}

/** Freezes what is published under a rule. A release that is then not published does no harm: the next one has its dates. */
export async function keepDates({ control, disclosed, ranking }: ReleaseDraft, files: Files): Promise<void> {
  if (disclosed !== undefined) control.dates?.add(disclosed.dates)
  control.dates?.split(ranking.splits)
  await control.dates?.write(files)
}
