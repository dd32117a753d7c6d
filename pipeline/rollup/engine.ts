import type {
  ComparedRecords,
  Excluded,
  KeySpendRow,
  OldCounts,
  ReadingNote,
  RecordsWithoutIds,
  RejectedInFile,
} from '../raw/records.ts'
import type { Sources } from '../raw/sources.ts'
import type { Input } from '../release/inputs.ts'

export interface Progress {
  share: number
  bytes: number | undefined
}

export interface RollupRequest {
  sources: Sources
  onProgress(progress: Progress & { stage: string }): void
  onStage(done: { stage: string; detail: string }): void
  onExcluded(records: Excluded): void
  onRejectedInFile(records: RejectedInFile): void
  /** Per source and date with records whose token counts were compared. */
  onCompared(records: ComparedRecords): void
  onReadingNote(note: ReadingNote): void
  /** Per source with accepted records without a `request_id`, whose duplicates cannot be found. */
  onNoRequestIds(without: RecordsWithoutIds): void
  onRowsOfSums(rows: { rows: bigint; rejected: bigint }): void
  /** Per source, UTC date, API key and `is_byok`. Records without a key are not included. */
  onKeySpend(usage: KeySpendRow): void
  onOldCounts(counted: OldCounts): void
  /** Per raw file in the rollup, even a missing one. `sha256` is of its decompressed content. */
  onInput(input: Input): void
  onNotice(message: string): void
  /** What happened to files since the last build. A build that finds nothing new does not say it again. */
  onNews(message: string): void
}

/** Sums usage per date and model into `core_rollup`. Every record is in it or passed to `onSetAside`. */
export interface RollupEngine {
  rollup(request: RollupRequest): Promise<void>
}
