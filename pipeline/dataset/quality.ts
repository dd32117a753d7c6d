import type { UtcDate } from '../contract/utc-date.ts'
import {
  type ComparedRecords,
  type OldCounts,
  REJECT_REASONS,
  type ReadingNote,
  type RecordsWithoutIds,
  type RejectedInFile,
  type SetAside,
  type SetAsideReason,
} from '../raw/records.ts'
import { PARTS_DISAGREEMENTS } from '../raw/schemas/schema.ts'

/** Reasons that may be published with the number of records: they name nothing private. */
const PUBLISHED_REASONS: readonly SetAsideReason[] = [...REJECT_REASONS, 'left_out', 'duplicate', 'archived_date']

/** Usage of a model that the registry does not know: not published, and named to the maintainer alone. */
export interface WithheldModel {
  model: string
  records: number
  tokens: string
}

/** Records that a source delivered for a date; `date` is null for records whose date cannot be read. */
export interface Delivery {
  source: string
  date: UtcDate | null
  records: number
}

/** Records of a source whose token counts contradict each other, for the maintainer alone. */
export interface Disagreement {
  source: string
  reason: string
  records: number
  accepted_records: number
}

/** A source of whose accepted records some have no `request_id`: where one of these is delivered twice, it counts twice. */
export interface SourceWithoutIds {
  source: string
  records: number
  accepted_records: number
}

/** Keeps account of every record that was read and is not part of the rollup, and of those that contradict themselves. */
export class Account {
  readonly #setAside: SetAside[] = []
  readonly #rejectedInFiles: RejectedInFile[] = []
  readonly #oldCounts: OldCounts[] = []
  readonly #compared: ComparedRecords[] = []
  readonly #notes: ReadingNote[] = []
  readonly sourcesWithoutIds: SourceWithoutIds[] = []
  #rowsOfSums: ReturnType<Account['judged']> | undefined

  add(records: SetAside): void {
    this.#setAside.push(records)
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

  /** Whether a record was rejected because its date is after `date`. */
  hasMisdatedAfter(date: UtcDate): boolean {
    return this.#rejectedInFiles.some(({ misdated }) => misdated !== undefined && misdated.last_date > date)
  }

  /** The dates of each source that count as an earlier version read them. */
  get oldCounts(): readonly OldCounts[] {
    return this.#oldCounts
  }

  /** What tells whether too much of `read` records was rejected; of sums the rows, for one of them may be a million records. */
  judged(read: number): { rejected: number; of: number; unit: 'rows' | 'records' } {
    return this.#rowsOfSums ?? { rejected: this.rejectedTotal, of: read, unit: 'records' }
  }

  /** Records set aside for a reason. */
  records(reason: SetAsideReason): number {
    return sumRecords(this.#setAside.filter((entry) => entry.reason === reason))
  }

  /** All records set aside. */
  get total(): number {
    return sumRecords(this.#setAside)
  }

  /** Rejected records by reason; reasons without records are absent. */
  get rejected(): Record<string, number> {
    const counts = REJECT_REASONS.map((reason) => [reason, this.records(reason)] as const)
    return Object.fromEntries(counts.filter(([, records]) => records > 0))
  }

  get rejectedTotal(): number {
    return Object.values(this.rejected).reduce((sum, records) => sum + records, 0)
  }

  /** Records whose token counts contradict each other, by reason, and those of them that are public usage. */
  get disagreeing(): { all: Record<string, number>; ofPublicUsage: Record<string, number> } {
    return {
      all: byReason(this.#compared, ({ records }) => records),
      ofPublicUsage: byReason(this.#compared, ({ public_records }) => public_records),
    }
  }

  /** The same by source. */
  get disagreements(): Disagreement[] {
    return [...Map.groupBy(this.#compared, ({ source }) => source)].flatMap(([source, rows]) => {
      const accepted_records = sumRecords(rows)
      const counts = Object.entries(byReason(rows, ({ records }) => records))
      return counts.map(([reason, records]) => ({ source, reason, records, accepted_records }))
    })
  }

  /** What the disagreements are found in: all accepted records of these sources, by date. */
  get compared(): readonly ComparedRecords[] {
    return this.#compared
  }

  /** How many records of each source and date were set aside, whatever the reason. */
  get deliveries(): Delivery[] {
    const byDelivery = Map.groupBy(this.#setAside, ({ source, date }) => JSON.stringify([source, date ?? null]))
    return [...byDelivery].map(([key, entries]) => {
      const [source, date] = JSON.parse(key)
      return { source, date, records: sumRecords(entries) }
    })
  }

  /** The withheld models, most tokens first. */
  get withheld(): WithheldModel[] {
    return this.withheldFrom('0000-01-01', '9999-12-31')
  }

  /** The same of some dates, both ends included. */
  withheldFrom(start: UtcDate, end: UtcDate): WithheldModel[] {
    const byModel = Map.groupBy(
      this.#setAside.filter(({ reason, date = '' }) => reason === 'withheld' && date >= start && date <= end),
      (entry) => entry.model_permaslug ?? '',
    )
    return [...byModel]
      .map(([model, entries]) => ({
        model,
        records: sumRecords(entries),
        tokens: entries.reduce((sum, entry) => sum + entry.tokens, 0n),
      }))
      .sort((a, b) => (a.tokens === b.tokens ? (a.model < b.model ? -1 : 1) : a.tokens > b.tokens ? -1 : 1))
      .map(({ model, records, tokens }) => ({ model, records, tokens: tokens.toString() }))
  }

  /** Rejected, left out, repeated and too late records by date and reason: what may be published, for it names nothing private. */
  get days(): { date: UtcDate | null; reason: SetAsideReason; records: number }[] {
    const publishable = this.#setAside.filter(({ reason }) => PUBLISHED_REASONS.includes(reason))
    const byDay = Map.groupBy(publishable, ({ date, reason }) => JSON.stringify([date ?? null, reason]))
    return [...byDay.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entries]) => {
        const [date, reason] = JSON.parse(key)
        return { date, reason, records: sumRecords(entries) }
      })
  }

  /** Everything that was set aside, by source, date and model, the rejected records by file, and contradictions by source. */
  get detail(): {
    set_aside: unknown[]
    rejected_in_files: unknown[]
    token_parts_disagree: Disagreement[]
    reading_notes: unknown[]
  } {
    return {
      set_aside: this.#setAside.map(({ records, tokens, ...rest }) => ({
        ...rest,
        records: Number(records),
        tokens: tokens.toString(),
      })),
      rejected_in_files: this.#rejectedInFiles.map(({ records, ...rest }) => ({ ...rest, records: Number(records) })),
      token_parts_disagree: this.disagreements,
      reading_notes: this.#notes.map(({ records, ...rest }) => ({ ...rest, records: Number(records) })),
    }
  }

  /** The files with the most rejected records, for a message. */
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

/** Sums by reason, in the order of the reasons; reasons without records are absent. */
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

function sumRecords(entries: readonly { records: bigint }[]): number {
  return Number(entries.reduce((sum, entry) => sum + entry.records, 0n))
}
