import { Command, Option } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { counted, formatInteger, formatShare } from '../base/numbers.ts'
import { DEFAULT_RULE } from '../contract/disclosure.ts'
import { type DisclosureMeasures, describeRule, describeUnsafe, unitOf } from '../dataset/disclosure.ts'
import { describeRange, toRanges } from '../dataset/old-counts.ts'
import type { PublishedRisk } from '../rollup/attack.ts'
import type { DisclosureReport } from '../rollup/disclosure-report.ts'
import { table } from './output.ts'
import { withEffects } from './running.ts'

export const disclosure = new Command('disclosure')
  .description('Measure what a release of your logs would tell about single customers. Publishes and keeps nothing.')
  .addOption(
    new Option('--min-contributors <number>', 'how many customers a published number must have').argParser((text) =>
      wholeNumber('--min-contributors', text, 1_000_000),
    ),
  )
  .addOption(
    new Option(
      '--p-percent <number>',
      'the second largest customer must not be able to estimate the largest to within this many percent',
    ).argParser((text) => wholeNumber('--p-percent', text, 100)),
  )
  .option('--json', 'print the measures as one JSON object on stdout')
  .addHelpText(
    'after',
    `
A number of tokens is safe if enough customers have a part in it and none of them is so large that the next one can
estimate it (docs/publishing.md). Customers are the column "contributor" of the records, or their API keys if the source
says "contributors": "keys". The rule is that of the sources file, or ${DEFAULT_RULE.min_contributors} customers and ${DEFAULT_RULE.p_percent} percent. "protected" are the tokens
that are not exempt, and "largest" is the share that one customer has of them. What this prints is private.

Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT, and those of ClickHouse (build --help).`,
  )
  .action(async ({ minContributors, pPercent, json = false }) => {
    const config = readPipelineConfig()
    const given = {
      ...(minContributors !== undefined && { min_contributors: minContributors }),
      ...(pPercent !== undefined && { p_percent: pPercent }),
    }
    const report = await withEffects(async (effects) => {
      const { reportDisclosure } = await import('../rollup/disclosure-report.ts')
      return reportDisclosure(config, effects, given)
    })
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : describe(report))
  })

function wholeNumber(flag: string, text: string, most: number): number {
  if (/^[0-9]{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text)
  throw new CliError(`${flag} ${text}: must be a whole number from 1 to ${formatInteger(most)}`)
}

function describe({ rule, protects, measures, worst_cells, attack }: DisclosureReport): string {
  const { tokens, named_tokens, joined_cells, dates, dates_left_out } = measures
  const lines = [
    ...describeKnown(measures, unitOf(protects)),
    `rule      ${describeRule(rule, protects)}`,
    `unsafe    ${describeUnsafe(measures)}`,
    `named     ${formatShare(BigInt(named_tokens), BigInt(tokens))} of the tokens`,
    `joined    ${counted(joined_cells, 'number')} of named models would be part of "other", to protect and to make it safe`,
    `dates     ${formatInteger(dates_left_out)} of ${formatInteger(dates)} would not be published`,
    ...describeAttack(attack, unitOf(protects)),
  ]
  if (worst_cells.length === 0) return `${lines.join('\n')}\n`
  const rows = worst_cells.map(({ date, model_permaslug, ...cell }) => [
    date,
    model_permaslug,
    formatInteger(cell.tokens),
    formatInteger(cell.protected_tokens),
    formatInteger(cell.contributors),
    `${(cell.largest_share * 100).toFixed(1)} %`,
  ])
  const head = ['date', 'model', 'tokens', 'protected', `${unitOf(protects)}s`, 'largest']
  return `${lines.join('\n')}\n\n${table([head, ...rows], 2)}`
}

const RANGES_SHOWN = 3

function describeAttack(
  { numbers, unsafe_numbers, published, changed_numbers }: DisclosureReport['attack'],
  unit: string,
): string[] {
  const sums = `${formatInteger(unsafe_numbers)} of ${counted(numbers, 'sum')} of the rows that this rule would publish`
  const changed = `${counted(changed_numbers, 'difference')} between published releases may be of a single ${unit}`
  return [
    `attacked  ${sums} are not safe`,
    ...(published === null ? [] : describePublished(published)),
    ...(changed_numbers === 0 ? [] : [`changed   ${changed}`]),
  ]
}

function describePublished({ release, numbers, unsafe_numbers, unsafe_dates }: PublishedRisk): string[] {
  const unsafe = `${formatInteger(unsafe_numbers)} of ${counted(numbers, 'number')} of release ${release}`
  const line = `published ${unsafe} are not safe under this rule, by the records that there are today`
  if (unsafe_numbers === 0) return [line]
  if (unsafe_dates.length === 0)
    return [line, '          they are rows of weeks and months, public until the release is withdrawn']
  const ranges = toRanges(unsafe_dates).map(describeRange)
  const more = ranges.length > RANGES_SHOWN ? ', …' : ''
  return [
    line,
    `          they stay public on ${counted(unsafe_dates.length, 'date')}, ${ranges.slice(0, RANGES_SHOWN).join(', ')}${more}, until these are withdrawn:`,
    '          docs/publishing.md, Dates from before the rule',
  ]
}

function describeKnown({ has_contributors, protected_tokens }: DisclosureMeasures, unit: string): string[] {
  if (protected_tokens === '0') return ['all usage is exempt: none belongs to a customer']
  return has_contributors ? [] : [`no record names the ${unit}: each number counts as that of one ${unit}`]
}
