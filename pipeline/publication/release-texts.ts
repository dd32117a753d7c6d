import { toJson } from '../base/json.ts'
import { CHANGES_FILES, type TableChanges } from '../contract/change-log.ts'
import { DISCLOSURE_FILE, type DisclosureFile } from '../contract/disclosure-file.ts'
import type { Provenance } from '../contract/provenance.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { MODELS_FILE, QUALITY_FILE } from '../contract/release-files.ts'
import { TABLES } from '../contract/tables.ts'
import type { BandedQuality } from '../dataset/banded-quality.ts'
import { writeChanges } from '../dataset/change-log.ts'
import type { modelFacts } from '../dataset/model-facts.ts'
import { writeModels } from '../dataset/models-file.ts'
import type { PublicQuality } from '../dataset/records.ts'
import { PROVENANCE_FILE } from '../release/provenance.ts'
import type { TextFile } from '../release/stage.ts'
import { releaseChart } from '../site/release-page.ts'

/** The files that a release has beside its data and documents. What is undefined has no file. */
export function releaseTexts(facts: {
  rows: readonly RankingRow[]
  changes: TableChanges
  models: ReturnType<typeof modelFacts>
  quality: PublicQuality | BandedQuality | undefined
  disclosure: DisclosureFile | undefined
  provenance: Provenance | undefined
}): TextFile[] {
  const { rows, changes, models, quality, disclosure, provenance } = facts
  return [
    ...changeTexts(changes),
    { path: MODELS_FILE, media_type: CSV, text: writeModels(models), rows: models.length },
    ...jsonIfAny(QUALITY_FILE, quality),
    ...jsonIfAny(DISCLOSURE_FILE, disclosure),
    ...jsonIfAny(PROVENANCE_FILE, provenance),
    releaseChart(rows),
  ]
}

function changeTexts(changes: TableChanges): TextFile[] {
  return TABLES.flatMap((table) => {
    const rows = changes[table]
    if (rows === undefined) return []
    return { path: CHANGES_FILES[table], media_type: CSV, text: writeChanges(rows, table), rows: rows.length }
  })
}

const CSV = 'text/csv; charset=utf-8'

function jsonIfAny(path: string, value: unknown): TextFile[] {
  return value === undefined ? [] : [{ path, media_type: 'application/json', text: toJson(value) }]
}
