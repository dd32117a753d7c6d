/** What tests of the decisions on counting share. */
import { type RejectedRecord, readRejects } from '../../pipeline/rollup/list-rejects.ts'
import { publish, type SmallResult } from './pipeline.ts'
import type { FileRecord } from './records.ts'

/** Publishes with every share of rejected records allowed, next to one record that is right. */
export function publishBeside(records: FileRecord[]) {
  const bystander = { model_permaslug: 'bystander', prompt_tokens: '1' }
  return publish({ sources: [{ records: [...records, bystander] }], top: { max_rejected_share: 1 } })
}

export function rejectsOf({ workspace }: Pick<SmallResult, 'workspace'>): Promise<RejectedRecord[]> {
  return Array.fromAsync(readRejects(workspace.dataDir))
}

/** The `index`-th date of the dataset, from 0. */
export function dateOf(index: number): string {
  return new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10)
}
