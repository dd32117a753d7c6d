/** Builds a gateway step by step, attacks all it has published, and judges what was found. */
import { join } from 'node:path'
import { BuildError } from '../../pipeline/base/errors.ts'
import { readTextIfAny } from '../../pipeline/base/files.ts'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import { type PeriodRow, TABLES, type Table } from '../../pipeline/contract/tables.ts'
import { derivedNumbers, numbersOf } from '../../pipeline/dataset/attack.ts'
import type { Derived, PublishedRows } from '../../pipeline/dataset/derived.ts'
import { Judge, type JudgedRecord, type JudgedRelease, type Leak } from './disclosure-judge.ts'
import type { Rule } from './disclosure-oracle.ts'
import { buildIn, releaseFolder, type Workspace, withdrawDatesIn, writeInput } from './pipeline.ts'
import type { GatewayStep, LoggedUse } from './random-gateway.ts'
import { COLUMNS, type FileRecord, writeRecords } from './records.ts'

/** A release with the rule of the dates that it published first. */
export interface AttackedRelease extends JudgedRelease {
  rule: Rule
  newDates: ReadonlySet<string>
}

/** Builds each step, under its rule or without any. Readers keep releases that are withdrawn later. */
export async function publishGateway(
  workspace: Workspace,
  steps: readonly GatewayStep[],
  { isRuled }: { isRuled: boolean },
): Promise<AttackedRelease[]> {
  const releases: AttackedRelease[] = []
  for (const step of steps) {
    if (isRuled && step.withdrawn !== undefined) releases.push(...(await withdraw(workspace, releases.at(-1), step)))
    await deliver(workspace, step, isRuled)
    const release = await tryBuild(workspace, step.asOf)
    if (release === undefined || releases.some((each) => each.release === release)) continue
    const previous = isRuled ? releases.at(-1) : undefined
    releases.push(attackedRelease(await publishedRows(workspace, release), { moment: step, previous }))
  }
  return releases
}

/** The release that takes the place of those with a date; none if there is no other date. */
async function withdraw(
  workspace: Workspace,
  previous: AttackedRelease | undefined,
  { withdrawn, ...moment }: GatewayStep,
): Promise<AttackedRelease[]> {
  const dates = [...new Set(previous?.rows.map(({ date }) => date))]
  const date = dates[(withdrawn?.position ?? 0) % dates.length]
  if (withdrawn === undefined || date === undefined || dates.length < 2) return []
  const { current } = await withdrawDatesIn(workspace, date, withdrawn.asOf)
  return [attackedRelease(await publishedRows(workspace, current ?? ''), { moment, previous })]
}

async function publishedRows(workspace: Workspace, release: string): Promise<PublishedRows> {
  const folder = await releaseFolder(workspace)
  const csvOf = (table: Table) => readTextIfAny(join(folder, `rankings-${table}.csv`))
  return rowsOfTables(release, csvOf)
}

/** The rows of a release from the CSV files of its tables, which has no weeks and months without these files. */
export async function rowsOfTables(
  release: string,
  csvOf: (table: Table) => Promise<string | undefined>,
): Promise<PublishedRows> {
  const [rows, weekly, monthly] = await Promise.all(TABLES.map(csvOf))
  const periods = weekly !== undefined &&
    monthly !== undefined && { weekly: readPeriods(weekly), monthly: readPeriods(monthly) }
  return { release, rows: readRows(rows ?? ''), ...(periods && { periods }) }
}

/** What the logs, the registry and the rule were when a release was made. */
export type Moment = Pick<GatewayStep, 'uses' | 'registry' | 'rule'>

/** `previous` is that of a release under a rule: its dates are not published again. */
export function attackedRelease(
  published: PublishedRows,
  { moment, previous }: { moment: Moment; previous: AttackedRelease | undefined },
): AttackedRelease {
  const { rows } = published
  const known = new Set(previous?.rows.map(({ date }) => date))
  const records = Map.groupBy(publicRecords(moment), ({ date }) => date)
  return {
    ...published,
    rule: moment.rule,
    newDates: new Set(rows.map(({ date }) => date).filter((date) => !known.has(date))),
    recordsOf: (date) =>
      previous !== undefined && known.has(date) ? previous.recordsOf(date) : (records.get(date) ?? []),
  }
}

/** The release that is current after the build; undefined if nothing can be published yet. */
async function tryBuild(workspace: Workspace, asOf: string): Promise<string | undefined> {
  try {
    return (await buildIn(workspace, asOf)).release
  } catch (error) {
    if (error instanceof BuildError && error.message.includes('nothing to publish')) return undefined
    throw error
  }
}

async function deliver(workspace: Workspace, { uses, registry, rule }: GatewayStep, isRuled: boolean): Promise<void> {
  const own = { visibility: 'registry', columns: { contributor: 'customer' } }
  const exempt = { visibility: 'registry', contributors: 'exempt', note: 'Our own tests.' }
  const groups: [string, object, readonly LoggedUse[]][] = [
    ['gateway', own, uses.filter(({ isExempt }) => !isExempt)],
    ['exempt', exempt, uses.filter(({ isExempt }) => isExempt)],
  ]
  const present = groups.filter(([, , those]) => those.length > 0)
  for (const [name, , those] of present) {
    const columns = [...COLUMNS, 'customer']
    await writeRecords(`${workspace.input}/${name}.ndjson`, those.map(toRecord), { columns })
  }
  await writeInput(
    workspace,
    'models.json',
    registry.map((model) => ({ name: 'A model', author: 'Someone', ...model })),
  )
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    max_withheld_share: 1,
    on_missing: 'remove',
    disclosure: isRuled ? rule : 'none',
    sources: present.map(([name, source]) => ({ name, schema: 'canonical', files: [`${name}.ndjson`], ...source })),
  })
}

/** Ways to write one customer, and nobody. */
const SPELLINGS = [
  (name: string) => name,
  (name: string) => ` "${name.toUpperCase()}" `,
  (name: string) => `${name.slice(0, 1)}\u200b${name.slice(1)}`,
  (name: string) => name.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (name: string) => (/^\d+$/.test(name) ? `0${name}.0` : name),
]
const NOBODY = ['', 'null', 'N/A', ' - ', 'Unknown']

function toRecord({ id, date, name, contributor, tokens, isPrivate }: LoggedUse): FileRecord {
  const spell = SPELLINGS[Number(id) % SPELLINGS.length] ?? String
  return {
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: name,
    prompt_tokens: `${tokens}`,
    completion_tokens: '0',
    request_id: id,
    visibility: isPrivate ? 'private' : '',
    customer: contributor === '' ? (NOBODY[Number(id) % NOBODY.length] ?? '') : spell(contributor),
  }
}

function publicRecords({ uses, registry }: Moment): JudgedRecord[] {
  const models = new Map(
    registry.flatMap((each) => [each.model_permaslug, ...each.aliases].map((name) => [name, each])),
  )
  return uses.flatMap(({ id, date, name, contributor, tokens, isPrivate, isExempt }) => {
    const model = models.get(name)
    if (isPrivate || model?.public !== true) return []
    const party = isExempt ? 'exempt' : contributor || 'unknown'
    return [{ id, date, model: model.model_permaslug, contributor: party, tokens }]
  })
}

/** What a reader of all releases finds out that the loosest rule, or that of a date's first release, does not let through. */
export function leaksOf(releases: readonly AttackedRelease[]): Leak[] {
  const [first] = releases
  if (first === undefined) return []
  // A week or month may have dates from before a rule was tightened.
  const later = releases.flatMap(({ rows, newDates, periods: _, ...release }) => {
    const own = { ...release, rows: rows.filter(({ date }) => newDates.has(date)) }
    return leaksAmong(numbersOf(own), new Judge([own], own.rule))
  })
  return [...leaksAmong(derivedNumbers(releases), new Judge(releases, first.rule)), ...later]
}

function leaksAmong(numbers: Iterable<Derived>, judge: Judge): Leak[] {
  return Array.from(numbers, (each) => judge.leakOf(each)).filter((leak) => leak !== undefined)
}

function readPeriods(csv: string): PeriodRow[] {
  const days = csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => Number(line.split(',')[3]))
  return readRows(csv).map((row, position) => ({ ...row, days: days[position] ?? 0 }))
}

/** The rows of a canonical CSV without quotes. */
export function readRows(csv: string): RankingRow[] {
  const lines = csv.trimEnd().split('\n').slice(1)
  return lines.map((line) => {
    const [date = '', model_permaslug = '', total_tokens = ''] = line.split(',')
    return { date, model_permaslug, total_tokens }
  })
}
