import { CliError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { printable } from '../base/prose.ts'
import { namesEndUsers } from '../raw/schemas/of-source.ts'
import { DEFAULT_DISCLOSURE, type Decisions } from '../setup/configuration.ts'
import type { DiagnosedSource } from '../setup/doctor.ts'
import { givenFor } from './init-questions.ts'
import type { Interview } from './interview.ts'

/** The flags of `init` that say whose usage the records are. */
export interface GivenCustomers {
  disclosure?: 'rule' | 'none' | undefined
  contributor: readonly string[]
  exempt: readonly string[]
  keys: boolean
}

type Entry = DiagnosedSource['entry']
type Settled = Pick<Decisions, 'sources' | 'disclosure'>

/**
 * Whose usage each source has, and the rule that protects them: the default one if that is known of all sources. Throws
 * `CliError` for a column that names nobody.
 */
export async function askCustomers(
  sources: readonly DiagnosedSource[],
  given: GivenCustomers,
  interview: Interview,
  write: (text: string) => void,
): Promise<Settled> {
  const wrong = sources.find((source) => source.reading.contributors.customers === 0 && columnFor(source, given))
  if (wrong !== undefined) {
    throw new CliError(`--contributor: no record of ${wrong.entry.name} has ${JSON.stringify(columnFor(wrong, given))}`)
  }
  if (given.disclosure === 'none') return withoutRule(sources)
  const known = sources.map((source) => ({ source, entry: fromFlags(source, given) }))
  const open = known.filter(({ entry }) => entry === undefined).map(({ source }) => source)
  const answer = open.length === 0 ? undefined : await askOpen(open, given, interview)
  if (answer === 'none') return withoutRule(sources)
  const settled = known.map(({ source, entry = { ...source.entry, ...answer } }) => ({ ...source, entry }))
  for (const source of settled) write(`\n${printable(source.entry.name)}: ${describeWhom(source)}\n`)
  write('\nOnly numbers that tell about no single customer will be published (docs/publishing.md, Customers)\n')
  return { sources: settled.map(({ entry }) => entry), disclosure: DEFAULT_DISCLOSURE }
}

/** Whose usage a source has, as a rule will count it. */
function describeWhom({ entry, reading: { contributors } }: DiagnosedSource): string {
  if (entry.contributors === 'exempt') return 'the usage belongs to no customer, and is not protected'
  if (entry.contributors === 'keys')
    return `${counted(contributors.keys, 'API key')}, each of which counts as a customer`
  if (!namesEndUsers(entry)) return `the records name ${counted(contributors.customers, 'customer')}`
  return (
    `the records name ${counted(contributors.customers, 'end user')}. A customer with many of them is not protected as a ` +
    'whole: name the column of the customer with --contributor if there is one'
  )
}

function columnFor({ entry }: DiagnosedSource, { contributor }: GivenCustomers): string | undefined {
  return givenFor(entry.name, contributor)
}

function withoutRule(sources: readonly DiagnosedSource[]): Settled {
  return { sources: sources.map(({ entry }) => entry), disclosure: 'none' }
}

/** The entry of a source of which the records or the flags say whose usage it is. */
function fromFlags({ entry, reading }: DiagnosedSource, { exempt, keys }: GivenCustomers): Entry | undefined {
  const { contributors } = reading
  const isNamed = exempt.some((word) => word.startsWith(`${entry.name}=`))
  if (contributors.customers > 0 && !isNamed) return entry
  const note = givenFor(entry.name, exempt)
  if (note !== undefined) return { ...entry, contributors: 'exempt', note }
  return keys && contributors.keys > 0 ? { ...entry, contributors: 'keys' } : undefined
}

async function askOpen(
  open: readonly DiagnosedSource[],
  { disclosure }: GivenCustomers,
  interview: Interview,
): Promise<'none' | Pick<Entry, 'contributors' | 'note'>> {
  const hasKeys = open.every(({ reading }) => reading.contributors.keys > 0)
  const words = [
    "exempt (no customer's, such as your own account)",
    ...(hasKeys ? ['keys (each API key counts as a customer)'] : []),
    ...(disclosure === 'rule' ? [] : ['none (publish without protecting customers)']),
  ]
  const known = words.map((word) => word.split(' ')[0])
  const names = open.map(({ entry }) => printable(entry.name)).join(', ')
  const answer = await interview.ask({
    text: `No record of ${names} says whose usage it is. ${words.join(', ')}, or stop and name its column with --contributor`,
    flag: `--exempt NOTE${hasKeys ? ', --keys' : ''}`,
    example: 'exempt',
    ...(disclosure !== 'rule' && { fallback: 'none' }),
    problem: (word) => (known.includes(word) ? undefined : `is none of ${known.join(', ')}`),
  })
  if (answer === 'none') return 'none'
  if (answer === 'keys') return { contributors: 'keys' }
  const text = 'Why does this usage belong to no customer? It is published'
  return {
    contributors: 'exempt',
    note: await interview.ask({ text, flag: '--exempt NOTE', example: 'Our own account.' }),
  }
}
