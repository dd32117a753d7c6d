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

/** How far a stage is: the share of it that is done, 0 to 1, and how many bytes all of it is. */
export interface Progress {
  share: number
  bytes: number | undefined
}

export interface RollupRequest {
  sources: Sources
  /** Called while a stage runs. */
  onProgress(progress: Progress & { stage: string }): void
  /** Called when a stage is done. */
  onStage(done: { stage: string; detail: string }): void
  onSetAside(records: SetAside): void
  onRejectedInFile(records: RejectedInFile): void
  /** Called for each date of a source in which the token counts of some record contradict each other. */
  onCompared(records: ComparedRecords): void
  onReadingNote(note: ReadingNote): void
  /** Called for each source that has accepted records without a `request_id`: their duplicates are not known. */
  onNoRequestIds(without: RecordsWithoutIds): void
  /** Called for a source of sums alone: how many rows were read and how many of them rejected, whatever they sum. */
  onRowsOfSums(rows: { rows: bigint; rejected: bigint }): void
  /** Called once for each source, UTC date, API key and `is_byok`. Records without a key are in none. */
  onKeyUsage(usage: KeyUsageRow): void
  /** Called once for each source and date with records that count as an earlier version read them, and no more. */
  onOldCounts(counted: OldCounts): void
  /** Called once for each raw file that has a part in the rollup, gone or not: the SHA-256 of its decompressed content. */
  onInput(sha256: string): void
  /** Something that a maintainer should know and that does not stop the build. */
  onNotice(message: string): void
}

/**
 * Sums raw usage to tokens per date and model: the one stage whose input can outgrow a machine. An engine fills the table
 * `core_rollup` (`result/create_rollup`) of the database in which it is then ranked. Every record that was read is
 * either in that table or was handed to `onSetAside`. Stops with the signal it was made with.
 */
export interface RollupEngine {
  rollup(request: RollupRequest): Promise<void>
}
