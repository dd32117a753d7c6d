import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import { printable } from '../base/prose.ts'
import { nearest } from '../contract/nearest.ts'
import { REJECT_REASONS, type RejectReason } from '../raw/records.ts'
import type { RejectedRecord, RejectsCount, RejectsFilter } from '../rollup/list-rejects.ts'
import { table } from './output.ts'

const SHOWN = 20
const WIDTH = 160
/** Characters of a record to show, however long the names before it are. */
const LEAST_CONTENT = 40

export const rejects = new Command('rejects')
  .description('Count the records that the last build rejected, by source, file and reason; with an option, show some.')
  .option('--source <name>', 'show records of this source')
  .option('--file <path>', 'show records of this raw file, named as in the counts')
  .option('--reason <reason>', `show records rejected for this reason: ${REJECT_REASONS.join(', ')}`)
  .option('--limit <count>', `how many to show (default: ${SHOWN}; with --json all)`)
  .option('--json', 'print the records as NDJSON: source, file, record, reason, content')
  .action(async ({ source, file, reason, limit, json }) => {
    const filter = { source, file, reason: readReason(reason) }
    const isSample = [source, file, reason, limit].some((option) => option !== undefined)
    const most = readLimit(limit) ?? (json === true ? Number.POSITIVE_INFINITY : SHOWN)
    const { countRejects, readRejects } = await import('../rollup/list-rejects.ts')
    const { dataDir } = readPipelineConfig()
    const read = (wanted: RejectsFilter) => readRejects(dataDir, wanted)
    if (json === true) return printEach(read(filter), most, (record) => `${JSON.stringify(record)}\n`)
    const counts = await countRejects(read(filter))
    if (counts.length === 0) process.stderr.write(`${none(filter, await countRejects(read({})))}\n`)
    else if (isSample) await printSample(read(filter), most, total(counts))
    else printCounts(counts)
  })

function readReason(given: string | undefined): RejectReason | undefined {
  const reason = REJECT_REASONS.find((name) => name === given)
  if (given === undefined || reason !== undefined) return reason
  const meant = nearest(given, REJECT_REASONS)
  const hint = meant === undefined ? `; there are ${REJECT_REASONS.join(', ')}` : `, did you mean ${meant}?`
  throw new CliError(`--reason ${JSON.stringify(given)} is no reason to reject${hint}`)
}

function readLimit(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(given)) {
    throw new CliError(`--limit ${JSON.stringify(given)} must be a whole number from 1 to 999999999`)
  }
  return Number(given)
}

function none(filter: RejectsFilter, all: readonly RejectsCount[]): string {
  if (all.length === 0) return 'there are no rejected records: the last build rejected none, or there was none yet'
  const wrong = (['source', 'file'] as const).find(
    (part) => filter[part] !== undefined && !all.some((count) => count[part] === filter[part]),
  )
  if (wrong === undefined) return `no rejected record is of that kind; there are ${formatInteger(total(all))} others`
  const known = [...new Set(all.map((count) => count[wrong]))]
  const meant = nearest(filter[wrong] ?? '', known) ?? known[0] ?? ''
  return `no rejected record has the ${wrong} ${JSON.stringify(filter[wrong])}; ${JSON.stringify(meant)} has some`
}

function total(counts: readonly RejectsCount[]): number {
  return counts.reduce((sum, { records }) => sum + records, 0)
}

function printCounts(counts: readonly RejectsCount[]): void {
  const rows = counts.map(({ source, file, reason, records }) => [source, file, reason, formatInteger(records)])
  process.stdout.write(table([['source', 'file', 'reason', 'records'], ...rows], 3))
  process.stderr.write(
    `${counted(total(counts), 'rejected record')}; --source, --file, --reason or --limit show some\n`,
  )
}

async function printSample(records: AsyncIterable<RejectedRecord>, most: number, all: number): Promise<void> {
  await printEach(records, most, (record) => {
    const place = `${printable(record.source)}  ${printable(record.file)}:${record.record}  ${record.reason}  `
    const width = Math.max(LEAST_CONTENT, (process.stdout.columns ?? WIDTH) - place.length)
    const content = typeof record.content === 'string' ? record.content : JSON.stringify(record.content)
    return `${place}${shortened(printable(content.slice(0, width * 2)), width)}\n`
  })
  const more = all > most ? '; --limit shows more, --json all' : ''
  process.stderr.write(`${formatInteger(Math.min(most, all))} of ${counted(all, 'rejected record')}${more}\n`)
}

/** Prints no faster than stdout takes it, because there may be more records than memory. */
async function printEach(
  records: AsyncIterable<RejectedRecord>,
  most: number,
  describe: (record: RejectedRecord) => string,
): Promise<void> {
  const lines = Readable.from(records).take(most).map(describe)
  await pipeline(lines, process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe.
    if (error.code !== 'EPIPE') throw error
  })
}

function shortened(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
}
