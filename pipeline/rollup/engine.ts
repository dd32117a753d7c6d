import type {
  ComparedRecords,
  KeyUsageRow,
  OldCounts,
  ReadingNote,
  RecordsWithoutIds,
  RejectedInFile,
  SetAside,
} from '../raw/records.ts'
import type { Sources } from '../raw/sources.ts'

/** The share of a stage that is done, 0 to 1, of `bytes`. */
export interface Progress {
  share: number
  bytes: number | undefined
}

export interface RollupRequest {
  sources: Sources
  onProgress(progress: Progress & { stage: string }): void
  onStage(done: { stage: string; detail: string }): void
  onSetAside(records: SetAside): void
  onRejectedInFile(records: RejectedInFile): void
  /** Per source and date with records whose token counts were compared. */
  onCompared(records: ComparedRecords): void
  onReadingNote(note: ReadingNote): void
  /** Per source with accepted records without a `request_id`, whose duplicates cannot be found. */
  onNoRequestIds(without: RecordsWithoutIds): void
  /** For a source of sums: the numbers of rows read and rejected. */
  onRowsOfSums(rows: { rows: bigint; rejected: bigint }): void
  /** Per source, UTC date, API key and `is_byok`. Records without a key are not included. */
  onKeyUsage(usage: KeyUsageRow): void
  /** Per source and date with records that count as a previous version read them. */
  onOldCounts(counted: OldCounts): void
  /** Per raw file in the rollup, even a missing one: the SHA-256 of its decompressed content. */
  onInput(sha256: string): void
  /** For the maintainer; does not stop the build. */
  onNotice(message: string): void
}

/**
 * Sums raw usage to tokens per date and model. An engine fills the table `core_rollup`. Every
 * record read is either in that table or passed to `onSetAside`.
 */
export interface RollupEngine {
  rollup(request: RollupRequest): Promise<void>
}
