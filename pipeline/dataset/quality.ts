import type { UtcDate } from '../contract/utc-date.ts'
import {
  type ComparedRecords,
  type Excluded,
  type ExclusionReason,
  type OldCounts,
  REJECT_REASONS,
  type ReadingNote,
  type RecordsWithoutIds,
  type RejectedInFile,
  type UnreadableFile,
} from '../raw/records.ts'
import { PARTS_DISAGREEMENTS } from '../raw/schemas/schema.ts'

/** Reasons whose counts may be published because they reveal nothing private. */
const PUBLISHED_REASONS: readonly ExclusionReason[] = [
  ...REJECT_REASONS,
  'left_out',
  'nothing_used',
  'duplicate',
  'archived_date',
]

const UNREADABLE: readonly ExclusionReason[] = [...REJECT_REASONS, 'left_out', 'nothing_used', 'duplicate']

/** Withheld usage of a model that the registry does not know. Only the maintainer sees the name. */
export interface WithheldModel {
  model: string
  records: number
  tokens: string
}

/** Records of one source and date that are not in the sums. `date` is null if it cannot be read. */
export interface Delivery {
  source: string
  date: UtcDate | null
  records: number
  /** Those that were neither left out nor rejected. */
  readable: number
}

/** Records whose token counts contradict each other, for the maintainer alone. */
interface Disagreement {
  source: string
  reason: string
  records: number
  accepted_records: number
  tokens: string
  /** The same by the product's own totals; null if none of the records has one. */
  product_total: string | null
}

/** A source with accepted records that have no `request_id`. Duplicates of such records count again. */
export interface SourceWithoutIds {
  source: string
  records: number
  accepted_records: number
}

type SetAside = Omit<Excluded, 'records' | 'tokens'> & { records: number; tokens: string }

/** Counts the records that are not in the sums by reason, and those whose token counts contradict each other. */
export class Account {
  /** As the maintainer reads them: there may be 300,000, so that no copy is made. */
  readonly #excluded: SetAside[] = []
  readonly #rejectedInFiles: RejectedInFile[] = []
  readonly #oldCounts: OldCounts[] = []
  readonly #compared: ComparedRecords[] = []
  readonly #notes: ReadingNote[] = []
  readonly sourcesWithoutIds: SourceWithoutIds[] = []
  /** URLs of objects that cannot be read because of their names. */
  #rowsOfSums: ReturnType<Account['rejectedOf']> | undefined

  add({ records, tokens, ...rest }: Excluded): void {
    this.#excluded.push({ ...rest, records: Number(records), tokens: tokens.toString() })
  }

  addFile(records: RejectedInFile): void {
    this.#rejectedInFiles.push(records)
  }

  addCompared(records: ComparedRecords): void {
    this.#compared.push(records)
  }

  addNote(note: ReadingNote): void {
    this.#notes.push(note)
  }

  addWithoutIds({ source, records, accepted_records }: RecordsWithoutIds): void {
    this.sourcesWithoutIds.push({ source, records: Number(records), accepted_records: Number(accepted_records) })
  }

  addRowsOfSums(rows: number, rejected: number): void {
    this.#rowsOfSums = { rejected, of: rows, unit: 'rows' }
  }

  addOldCounts(counted: OldCounts): void {
    this.#oldCounts.push(counted)
  }

  hasMisdatedAfter(date: UtcDate): boolean {
    return this.#rejectedInFiles.some(({ misdated }) => misdated !== undefined && misdated.last_date > date)
  }

  get oldCounts(): readonly OldCounts[] {
    return this.#oldCounts
  }

  /**
   * The rejected share that has a limit. Unreadable documents have a check of their own; sums of another engine count by row:
   * one row may sum a million records.
   */
  rejectedOf(read: number): { rejected: number; of: number; unit: 'rows' | 'records' } {
    const rejected = this.rejectedTotal - this.records('unreadable_document')
    return this.#rowsOfSums ?? { rejected, of: read, unit: 'records' }
  }

  get unreadable(): UnreadableFile[] {
    return this.#rejectedInFiles.flatMap(({ source, file, reason, records }) => {
      const cut = this.#notes.filter((note) => note.kind === 'cut_line' && note.source === source && note.name === file)
      const documents = Number(records) - cut.length
      return reason === 'unreadable_document' && documents > 0 ? [{ source, file, documents }] : []
    })
  }

  records(reason: ExclusionReason): number {
    return sumRecords(this.#excluded.filter((entry) => entry.reason === reason))
  }

  get total(): number {
    return sumRecords(this.#excluded)
  }

  get rejected(): Record<string, number> {
    const counts = REJECT_REASONS.map((reason) => [reason, this.records(reason)] as const)
    return Object.fromEntries(counts.filter(([, records]) => records > 0))
  }

  get rejectedTotal(): number {
    return Object.values(this.rejected).reduce((sum, records) => sum + records, 0)
  }

  /** Records whose token counts contradict each other, by reason: all of them, and those of public usage. */
  get disagreeing(): { all: Record<string, number>; ofPublicUsage: Record<string, number> } {
    return {
      all: byReason(this.#compared, ({ records }) => records),
      ofPublicUsage: byReason(this.#compared, ({ public_records }) => public_records),
    }
  }

  get disagreements(): Disagreement[] {
    return [...Map.groupBy(this.#compared, ({ source }) => source)].flatMap(([source, rows]) => {
      const accepted_records = sumRecords(rows)
      const counts = Object.entries(byReason(rows, ({ records }) => records))
      return counts.map(([reason, records]) => {
        const ofReason = rows.filter((row) => row.reason === reason)
        return { source, reason, records, accepted_records, ...totalsOf(ofReason) }
      })
    })
  }

  /** All accepted records of sources whose token counts were compared, by date. */
  get compared(): readonly ComparedRecords[] {
    return this.#compared
  }

  get deliveries(): Delivery[] {
    const byDelivery = Map.groupBy(this.#excluded, ({ source, date }) => JSON.stringify([source, date ?? null]))
    return [...byDelivery].map(([key, entries]) => {
      const [source, date] = JSON.parse(key)
      const readable = entries.filter(({ reason }) => !UNREADABLE.includes(reason))
      return { source, date, records: sumRecords(entries), readable: sumRecords(readable) }
    })
  }

  get withheld(): WithheldModel[] {
    return this.withheldFrom('0000-01-01', '9999-12-31')
  }

  withheldFrom(start: UtcDate, end: UtcDate): WithheldModel[] {
    const byModel = Map.groupBy(
      this.#excluded.filter(({ reason, date = '' }) => reason === 'withheld' && date >= start && date <= end),
      (entry) => entry.model_permaslug ?? '',
    )
    return [...byModel]
      .map(([model, entries]) => ({
        model,
        records: sumRecords(entries),
        tokens: entries.reduce((sum, entry) => sum + BigInt(entry.tokens), 0n),
      }))
      .sort((a, b) => (a.tokens === b.tokens ? (a.model < b.model ? -1 : 1) : a.tokens > b.tokens ? -1 : 1))
      .map(({ model, records, tokens }) => ({ model, records, tokens: tokens.toString() }))
  }

  /** The counts by date and reason that may be published, because they reveal nothing private. */
  get days(): { date: UtcDate | null; reason: ExclusionReason; records: number }[] {
    const publishable = this.#excluded.filter(({ reason }) => PUBLISHED_REASONS.includes(reason))
    const byDay = Map.groupBy(publishable, ({ date, reason }) => JSON.stringify([date ?? null, reason]))
    return [...byDay.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entries]) => {
        const [date, reason] = JSON.parse(key)
        return { date, reason, records: sumRecords(entries) }
      })
  }

  /** The report for the maintainer alone, with names of sources, files and models. */
  get detail(): {
    set_aside: readonly unknown[]
    rejected_in_files: unknown[]
    token_parts_disagree: Disagreement[]
    reading_notes: unknown[]
  } {
    return {
      set_aside: this.#excluded,
      rejected_in_files: this.#rejectedInFiles.map(({ records, ...rest }) => ({ ...rest, records: Number(records) })),
      token_parts_disagree: this.disagreements,
      reading_notes: this.#notes.map(({ records, ...rest }) => ({ ...rest, records: Number(records) })),
    }
  }

  /** The files with the most rejected records, and hints at the cause. */
  worstFiles(count: number): string[] {
    const worst = [...this.#rejectedInFiles].sort((a, b) => Number(b.records - a.records)).slice(0, count)
    const lines = worst.map(({ file, reason, records, misdated }) => {
      return `${file}: ${records} ${reason}${misdated === undefined ? '' : `, ${describeDates(misdated)}`}`
    })
    const isWrongTime = worst.filter(({ reason }) => reason === 'invalid_timestamp')
    const isMisdated = isWrongTime.some(({ misdated }) => misdated !== undefined)
    const isUnread = isWrongTime.some(({ misdated }) => misdated === undefined)
    return [...lines, ...(isMisdated ? [WRONG_UNIT] : []), ...(isUnread ? [UNREAD_TIME] : [])]
  }
}

const WRONG_UNIT =
  'a date before 2015 or after tomorrow comes from a wrong unit of time: check "time_unit" and "base_time" of the source, ' +
  'and the clock of this machine'

const UNREAD_TIME =
  'some timestamps could not be read: numbers need "base_time" and "time_unit" in the source, text needs neither'

function describeDates({ first_date, last_date }: { first_date: UtcDate; last_date: UtcDate }): string {
  return first_date === last_date ? `dated ${first_date}` : `dated ${first_date} to ${last_date}`
}

function byReason(
  rows: readonly ComparedRecords[],
  recordsOf: (row: ComparedRecords) => bigint,
): Record<string, number> {
  const sums = PARTS_DISAGREEMENTS.map((reason) => {
    const ofReason = rows.filter((row) => row.reason === reason)
    return [reason, Number(ofReason.reduce((sum, row) => sum + recordsOf(row), 0n))] as const
  })
  return Object.fromEntries(sums.filter(([, records]) => records > 0).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function totalsOf(rows: readonly ComparedRecords[]): Pick<Disagreement, 'tokens' | 'product_total'> {
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0n)
  const total = rows.reduce((sum, row) => sum + (row.product_total ?? row.tokens), 0n)
  return { tokens: `${tokens}`, product_total: rows.some((row) => row.product_total !== null) ? `${total}` : null }
}

function sumRecords(entries: readonly { records: bigint | number }[]): number {
  return entries.reduce((sum, { records }) => sum + Number(records), 0)
}
