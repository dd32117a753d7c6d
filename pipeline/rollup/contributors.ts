import { hash } from 'node:crypto'
import { contributorName, NO_CONTRIBUTOR } from '../base/contributor-name.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import { Protected, type Protection } from '../contract/disclosure.ts'
import type { UsageSource } from '../raw/engine.ts'
import { absentContributors, namesEndUsers, readsContributor } from '../raw/schemas/of-source.ts'
import type { Source, Sources } from '../raw/sources.ts'
import { withoutContributors } from './reading.ts'
import { listFiles, type StateFile, takeOver } from './state.ts'

/**
 * Who contributes the usage of a source: what its records name, their keys, or nobody. Undefined if nothing says. The view in
 * ClickHouse may say.
 */
export function contributorsOf(source: Source | UsageSource): 'column' | 'keys' | 'exempt' | undefined {
  if (source.contributors === 'none') return undefined
  return source.contributors ?? (!('schema' in source) || readsContributor(source) ? 'column' : undefined)
}

/** Whether some usage can be told apart by contributor. */
export function hasContributors({ usageSources }: Pick<Sources, 'usageSources'>): boolean {
  return usageSources.some((source) => contributorsOf(source) !== undefined)
}

/** Whom a disclosure rule protects in these sources. */
export function protectedIn({ usageSources }: Pick<Sources, 'usageSources'>): Protected[] {
  const found = new Set(usageSources.map(unitIn))
  return Protected.options.filter((unit) => found.has(unit))
}

function unitIn(source: Source | UsageSource): Protected | undefined {
  const contributors = contributorsOf(source)
  if (contributors === 'keys') return 'api_keys'
  if (contributors !== 'column') return undefined
  return 'schema' in source && namesEndUsers(source) ? 'end_users' : 'customers'
}

/** Whom a disclosure rule protects in these sources, and why some usage is nobody's. */
export function protectionOf(sources: Pick<Sources, 'usageSources'>): Protection {
  const notes = sources.usageSources.flatMap(({ note }) => note ?? [])
  return { protects: protectedIn(sources), exempt: [...new Set(notes)].sort() }
}

/** By source, what says whose usage it is. Private: it names columns. */
export function contributorFacts({ usageSources }: Pick<Sources, 'usageSources'>): Record<string, string> {
  const facts = usageSources.flatMap((source): [string, string][] => {
    const kind = contributorsOf(source)
    if (kind === undefined) return []
    if (kind !== 'column' || !('schema' in source)) return [[source.name, JSON.stringify([kind])]]
    const { contributor = null } = source.columns
    return [[source.name, JSON.stringify([kind, source.schema, contributor])]]
  })
  return Object.fromEntries(facts)
}

/** What stands for nobody where a source names its contributors, as `contributorName` spells it. */
export function noCustomersOf(source: Source | UsageSource): string[] {
  const own = [...(source.no_customer ?? []), ...('schema' in source ? absentContributors(source) : [])]
  return [...new Set([...NO_CONTRIBUTOR, ...own.flatMap((word) => contributorName(word) ?? [])])]
}

/** Selects whom the contributors of a source count as, if not as themselves: nobody, or their owners. */
export async function selectParties(
  database: Database,
  source: Source | UsageSource,
  { owners }: Pick<Sources, 'owners'>,
): Promise<void> {
  const parties = new Map<string, string>(noCustomersOf(source).map((word) => [word, '']))
  for (const [contributor, owner] of owners) {
    if (!parties.has(contributor)) parties.set(contributor, parties.get(owner) ?? owner)
  }
  await database.run('result/create_parties', { names: [...parties.keys()], owners: [...parties.values()] })
}

/** Says if contributors of a source that were just read are written in several ways. It is news: their names are not kept. */
export async function reportRespelled(
  database: Database,
  source: Source | UsageSource,
  { onNews }: { onNews: (text: string) => void },
): Promise<void> {
  type Row = { contributors: bigint; spellings: string[] }
  const [found] = await database.rows<Row>('contributors/respelled', { words: noCustomersOf(source) })
  if (found === undefined) return
  onNews(
    `source ${JSON.stringify(source.name)}: ${counted(found.contributors, 'customer')} ${found.contributors === 1n ? 'is' : 'are'} written ` +
      `in several ways, such as ${found.spellings.map(visibly).join(' and ')}, and each counts once (docs/disclosure.md)`,
  )
}

/** In quotes, with what cannot be seen as its code. */
function visibly(text: string): string {
  const code = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  return JSON.stringify(text.slice(0, 60)).replaceAll(/[^\P{C}]|[^\P{Z} ]/gu, code)
}

/**
 * Draws from the secret of the installation how much stricter the bound is that rules apply (disclosure/define_measured_cells).
 * The synthetic sample has nobody to protect and is the same everywhere: it applies the rule as it is. It is needed only where somebody is known to contribute.
 */
export async function setBound(database: Database, readKey: (() => Promise<string>) | undefined): Promise<void> {
  const [found] = await database.rows<{ has_contributors: boolean }>('contributors/delivered')
  if (found?.has_contributors !== true) return
  const share = readKey === undefined ? -1 : Number.parseInt((await readKey()).slice(0, 12), 16) / 2 ** 48
  await database.setVariable('bound_share', share)
}

const BLOCK_BYTES = 64
const INNER = 0x36
const OUTER = 0x5c

/** Whether the selected source is asked for contributors. */
export interface ContributorsOfSource {
  isRead: boolean
  readKey: () => Promise<string>
}

/** Sets the key of the contributors' ids, if some usage of the source asks for it. */
export async function setKeyIfNeeded(
  database: Database,
  usage: 'counted' | 'stored',
  { isRead, readKey }: ContributorsOfSource,
): Promise<boolean> {
  if (!isRead) return false
  const [found] = await database.rows<{ has_contributors: boolean }>(`contributors/${usage}`)
  const isNeeded = found?.has_contributors === true
  if (isNeeded) await setContributorKey(database, await readKey())
  return isNeeded
}

/** Pads the key as HMAC wants it (RFC 2104). `key` is a text of any length. */
export async function setContributorKey(database: Database, key: string): Promise<void> {
  const secret = hash('sha256', key, 'buffer')
  const block = Buffer.concat([secret, Buffer.alloc(BLOCK_BYTES - secret.length)])
  const padded = (padding: number) => Buffer.from(block.map((byte) => byte ^ padding)).toString('hex')
  await database.setVariable('contributor_key_id', hash('sha256', secret).slice(0, 8))
  await database.setVariable('contributor_inner_key', padded(INNER))
  await database.setVariable('contributor_outer_key', padded(OUTER))
}

/**
 * The files or days as the state knows them. Those that are there and have ids under another key count as read without contributors,
 * so that they are read again. Says what has such ids.
 */
export async function withoutLostIds<File extends Pick<StateFile, 'file_id' | 'reading'>>(
  database: Database,
  known: readonly File[],
  options: { source: UsageSource; what: string; isThere: (file: File) => boolean; notice: (text: string) => void },
): Promise<File[]> {
  const { source, what, isThere, notice } = options
  const lost = await database.rows<{ file_id: number | null; tokens: bigint }>('contributors/under_other_key')
  if (lost.length === 0) return [...known]
  const ids = new Set(lost.map(({ file_id }) => file_id))
  const isAgain = (file: File) => ids.has(file.file_id) && isThere(file)
  const again = known.filter(isAgain).length
  const tokens = lost.reduce((sum, each) => sum + each.tokens, 0n)
  const files = again === 0 ? '' : `. ${counted(again, what)} ${again === 1 ? 'is' : 'are'} read again`
  notice(
    `source ${JSON.stringify(source.name)}: the customers of ${counted(tokens, 'token')} were stored under another secret ` +
      `than that in DATA_DIR/disclosure, so they count as unknown: restore that folder from a backup${files}`,
  )
  return known.map((file) => (isAgain(file) ? { ...file, reading: withoutContributors(file.reading) } : file))
}

/** Forgets whose usage the files or days of the selected source are. */
export async function forgetContributors(database: Database): Promise<void> {
  await database.transaction(async () => {
    await database.script('contributors/forget')
    const files = (await listFiles(database)).filter(({ reading }) => reading !== withoutContributors(reading))
    for (const [reading, some] of Map.groupBy(files, (file) => withoutContributors(file.reading))) {
      await takeOver(database, some, reading)
    }
  })
}

const MANY = 100

/** Says if a column has nearly as many contributors as records: they may be sessions rather than customers. */
export async function reportSessions(
  database: Database,
  { name }: UsageSource,
  { onNotice }: { onNotice: (text: string) => void },
): Promise<void> {
  const [found] = await database.rows<{ contributors: bigint; records: bigint }>('contributors/count')
  if (found === undefined || found.contributors < MANY || 2n * found.contributors < found.records) return
  onNotice(
    `source ${JSON.stringify(name)}: ${formatInteger(found.records)} records name ${counted(found.contributors, 'customer')}. If these are ` +
      'sessions or requests, numbers seem safe that are not: name the column of the customer as "contributor"',
  )
}

/** What is wrong where a token that is ranked is not in one contribution: our own bug. Undefined if nothing is. */
export async function findUnbalanced(database: Database): Promise<string | undefined> {
  const [cell] = await database.rows<{ date: string; model_permaslug: string }>('contributors/unbalanced')
  return cell && `the contributions to ${cell.model_permaslug} on ${cell.date} are not its tokens`
}

/** Throws `BuildError` if a rule is in force and would judge wrong contributions. Without a rule they are only measured. */
export async function assertBalanced(database: Database, { disclosure }: Pick<Sources, 'disclosure'>): Promise<void> {
  const problem = typeof disclosure === 'object' ? await findUnbalanced(database) : undefined
  if (problem !== undefined) throw new BuildError(`${problem}; nothing was published`)
}
