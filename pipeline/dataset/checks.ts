import { z } from 'zod'
import type { Database, SqlParameters } from '../base/database.ts'
import { BlockedError, BuildError, CliError } from '../base/errors.ts'
import { readComment, readStatement } from '../base/statements.ts'
import { DATASET_START, UtcDate } from '../contract/utc-date.ts'
import { ALWAYS_BLOCKING, INVARIANTS, noSanityCheck, SANITY_CHECKS, SanityCheck } from '../raw/check-names.ts'
import { showSameRequests } from '../raw/schemas/same-requests.ts'
import { LOOSER_DISCLOSURE, LOST_DISCLOSURE } from './looser-disclosure.ts'
import { NEW_READING } from './new-reading.ts'
import { OLD_COUNTS } from './old-counts.ts'
import { type AcceptedPair, acceptedAs, isPair } from './overlapping-sources.ts'
import type { Account } from './quality.ts'
import { RANK_PARAMETERS } from './rank.ts'
import { type AcceptedFile, isAcceptedFile, UNREADABLE_DOCUMENT } from './unreadable.ts'

/** The names that `--accept` takes to publish without a signature, and to sign with a key that no key in force signs for. */
export const UNSIGNED = 'unsigned'
export const KEY_LOST = 'key_lost'

/** The name that `--accept` takes to go on without what an earlier version kept and no raw log has any more. */
export const LOST_HISTORY = 'lost_history'

/** What `--accept` takes besides sanity checks. */
const OTHERS = [LOST_HISTORY, OLD_COUNTS, NEW_READING, LOOSER_DISCLOSURE, LOST_DISCLOSURE, UNSIGNED, KEY_LOST] as const

export type Acceptable = SanityCheck | (typeof OTHERS)[number] | AcceptedFile | AcceptedPair

/** A sanity check's finding. `source` is the subject of `finding`. Only the maintainer sees `source` and `detail`. */
export interface Finding {
  check: SanityCheck | typeof UNREADABLE_DOCUMENT
  date: UtcDate | undefined
  source: string | undefined
  /** The two sources of a finding about a pair, in the order of their names. */
  pair?: [string, string] | undefined
  /** False for findings about usage that is not public: they are not published and do not block. */
  isPublic: boolean
  finding: string
  detail: string | undefined
}

export const Warning = z.object({ check: z.string(), date: UtcDate.optional(), finding: z.string() })
export type Warning = z.infer<typeof Warning>

/**
 * Asserts the rules of `out_rankings_daily`, whose dates up to `lastDate` were ranked now, under a disclosure rule if
 * `isRuled`, or are frozen, and of `out_rankings_periods`. Throws `BuildError` that names broken rules and rows.
 */
export async function assertInvariants(database: Database, lastDate: UtcDate, isRuled = false): Promise<void> {
  const parameters = { ...RANK_PARAMETERS, first_date: DATASET_START, last_date: lastDate, is_ruled: isRuled }
  const broken: string[] = []
  await database.run('checks/create_checked_rows')
  for (const check of INVARIANTS) {
    const { demand, bound } = readCheck(check, parameters)
    const rows = await database.rows<{ date: UtcDate; finding: string }>(`checks/${check}`, bound)
    if (rows.length > 0) broken.push(explain(check, demand, rows))
  }
  if (broken.length === 0) return
  throw new BuildError(`the ranking breaks its own rules, nothing was published\n${broken.join('\n')}`)
}

/** Runs the sanity checks, in order of check and date. */
export async function findOddities(
  database: Database,
  sources: readonly { name: string; schema?: string }[],
  { deliveries, compared }: Pick<Account, 'deliveries' | 'compared'>,
  isRuled = false,
): Promise<Finding[]> {
  await database.setVariable('is_ruled', isRuled)
  await database.run('checks/create_deliveries')
  await database.append('core_deliveries', [
    ...sources.map(({ name }) => [name, null, '0', '0']),
    ...deliveries.map(({ source, date, records, readable }) => [source, date, `${records}`, `${readable}`]),
  ])
  await database.run('checks/create_same_requests')
  const pairs = sources.flatMap((one) =>
    sources.filter((other) => one.name < other.name).map((other) => [one, other] as const),
  )
  const ofOneProduct = pairs.filter(([one, other]) => showSameRequests(one.schema, other.schema))
  await database.append(
    'core_same_requests',
    ofOneProduct.map(([one, other]) => [one.name, other.name]),
  )
  await database.run('checks/create_parts_disagree')
  await database.append(
    'core_parts_disagree',
    compared.map(({ source, date, reason, records, public_records }) => {
      return [source, date, reason, `${records}`, `${public_records}`]
    }),
  )
  const findings: Finding[] = []
  for (const check of SANITY_CHECKS) {
    type Row = { date?: UtcDate | null } & Partial<Record<'source' | 'one' | 'other' | 'detail', string>> & {
        is_public?: boolean
        finding: string
      }
    const rows = await database.rows<{ [Key in keyof Row]: Row[Key] }>(`checks/${check}`)
    const found = rows.map(({ date, source, one, other, is_public, finding, detail }): Finding => {
      const pair = one === undefined || other === undefined ? undefined : ([one, other] satisfies [string, string])
      return { check, date: date ?? undefined, source, pair, isPublic: is_public ?? true, finding, detail }
    })
    findings.push(...found)
  }
  return findings
}

/** By source, the newest date of its records, and null if it has none. `findOddities` must have run. */
export async function newestRecords(
  database: Database,
  lastCredible: UtcDate,
): Promise<{ source: string; date: UtcDate | null }[]> {
  return database.rows('checks/newest_records', { last_credible: lastCredible })
}

/** The finding for the maintainer, with the source's name and the numbers. */
export function toWarning({ check, date, source, finding, detail }: Finding): Warning {
  const subject = source === undefined ? '' : `source ${JSON.stringify(source)} `
  const numbers = detail === undefined ? '' : `: ${detail}`
  return { check, ...(date !== undefined && { date }), finding: `${subject}${finding}${numbers}` }
}

/** The findings for publication, without source names and numbers. */
export function toPublicWarnings(findings: readonly Finding[]): Warning[] {
  const publishable = findings.filter(({ isPublic }) => isPublic)
  return publishable.map(({ check, date, source, finding }) => {
    const subject = source === undefined ? '' : 'a source '
    return { check, ...(date !== undefined && { date }), finding: `${subject}${finding}` }
  })
}

/**
 * Throws `BlockedError` that lists findings of blocking checks, unless accepted by the maintainer or already published in
 * the current release's warnings (docs/decisions/0011-sanity-checks.md). `pairs` are findings about two sources that were
 * never accepted.
 */
export function checkNothingBlocks(
  findings: readonly Finding[],
  options: {
    blocking: readonly SanityCheck[]
    accepted: readonly Acceptable[]
    published: readonly Warning[]
    pairs: readonly Finding[]
  },
): void {
  const { blocking, accepted, published, pairs } = options
  const stopping: readonly string[] = [...blocking, ...ALWAYS_BLOCKING].filter((check) => !accepted.includes(check))
  const publishable = findings.filter(({ isPublic, pair }) => isPublic && pair === undefined)
  const others = withoutPublished(publishable, published).filter(({ check }) => stopping.includes(check))
  const fresh = [...others, ...pairs]
  if (fresh.length === 0) return
  const broken = Map.groupBy(fresh, ({ check }) => check)
  const lines = [...broken].map(([check, found]) => explain(check, readCheck(check, {}).demand, found.map(toWarning)))
  const names = [...new Set(fresh.map(({ check, pair }) => (pair === undefined ? check : acceptedAs(pair))))]
  const flags = [
    ...names.map((name) => `--accept ${isPair(name) ? JSON.stringify(name) : name}`),
    ...(pairs.length > 0 ? ['--note TEXT'] : []),
  ].join(' ')
  throw new BlockedError(
    `blocking checks have new findings, nothing was published\n${lines.join('\n')}\n` +
      `if the data is right, publish it with: tokenboard build ${flags}`,
    [...broken.keys()],
  )
}

/** Reads the names given to `--accept`. Throws `CliError` that suggests the nearest check. */
export function readAccepted(names: readonly string[]): Acceptable[] {
  return names.map((name) => {
    const other = OTHERS.find((each) => each === name)
    if (other !== undefined) return other
    if (isAcceptedFile(name)) return name
    if (name === UNREADABLE_DOCUMENT) throw new CliError(`--accept: ${name} goes with a file, as ${name}:FILE`)
    if (isPair(name)) return name
    const parsed = SanityCheck.safeParse(name)
    if (!parsed.success)
      throw new CliError(
        `--accept: ${noSanityCheck(name, [...SANITY_CHECKS, ...OTHERS, `${UNREADABLE_DOCUMENT}:FILE`])}`,
      )
    return parsed.data
  })
}

/** Drops as many findings per check and date as the current release has published. */
function withoutPublished(findings: readonly Finding[], published: readonly Warning[]): Finding[] {
  const place = ({ check, date }: { check: string; date?: UtcDate | undefined }) => `${check} ${date ?? ''}`
  const known = new Map<string, number>()
  for (const warning of published) known.set(place(warning), (known.get(place(warning)) ?? 0) + 1)
  return findings.filter((finding) => {
    const left = known.get(place(finding)) ?? 0
    known.set(place(finding), left - 1)
    return left <= 0
  })
}

/** The header line of a check's SQL with its numbers filled in, and the parameters that the SQL uses. */
function readCheck(check: string, parameters: SqlParameters): { demand: string; bound: SqlParameters } {
  const [demand = ''] = readComment(`checks/${check}`)
  const statement = readStatement(`checks/${check}`)
  return {
    demand: demand.replace(/\$(\w+)/g, (name, parameter) => String(parameters[parameter] ?? name)),
    bound: Object.fromEntries(Object.entries(parameters).filter(([name]) => statement.includes(`$${name}`))),
  }
}

const FINDINGS_SHOWN = 5

function explain(check: string, demand: string, findings: readonly Omit<Warning, 'check'>[]): string {
  const shown = findings
    .slice(0, FINDINGS_SHOWN)
    .map(({ date, finding }) => (date === undefined ? `  ${finding}` : `  ${date}: ${finding}`))
  const more = findings.length > FINDINGS_SHOWN ? [`  and ${findings.length - FINDINGS_SHOWN} more`] : []
  return [`${check}: ${demand}`, ...shown, ...more].join('\n')
}
