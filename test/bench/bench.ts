import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { describeMachine, measuredOn } from '../support/machine.ts'
import { replaceBetweenMarks } from '../support/page.ts'
import { compare, type Suite } from './comparison.ts'
import { mergedTable, type SuiteReport, table } from './report.ts'

const SUITES = ['pipeline', 'server']

const PAGE = join(import.meta.dirname, '../../docs/evidence/performance.md')

interface Options {
  rounds: number
  only: string
  json?: string
  write?: true
}

/** `make bench`: runs suites and prints their tables; `--write` puts them into docs/evidence/performance.md. */
const program = new Command('bench')
  .description('measure Tokenboard against the bare machine; docs/evidence/performance.md says how to read it')
  .addArgument(new Argument('[suite...]', 'what to measure: everything unless some are named').choices(SUITES))
  .option('--rounds <number>', 'how often each is measured', readRounds, 7)
  .option('--only <text>', 'measure only the comparisons whose name has this text', '')
  .option('--json <file>', 'write all that was measured, and on which machine, into a file')
  .option('--write', 'put the tables into docs/evidence/performance.md')
  .action((names, options: Options) => run(names.length > 0 ? names : SUITES, options))

function readRounds(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 9999.')
  return Number(text)
}

async function run(names: readonly string[], { rounds, only, json, write }: Options): Promise<void> {
  const machine = describeMachine()
  const reports: SuiteReport[] = []
  for (const name of names) {
    const { openSuite }: { openSuite: () => Promise<Suite> } = await import(`./${name}/suite.ts`)
    const report = await runSuite(name, await openSuite(), rounds, only)
    if (report.results.length > 0) process.stdout.write(`${table(report)}\n\n`)
    reports.push(report)
  }
  if (reports.every(({ results }) => results.length === 0)) {
    const known = reports.flatMap(({ comparisons }) => comparisons.map((comparison) => `\n  ${comparison.name}`))
    program.error(`no comparison has ${JSON.stringify(only)} in its name; there are${known.join('')}`)
  }
  if (json !== undefined) await writeFile(json, `${JSON.stringify({ machine, suites: reports }, null, 2)}\n`)
  if (!write) return
  // Rows of what was not measured this time stay.
  for (const report of reports) {
    const tableBeside = (earlier: string) => `${measuredOn(machine)}\n\n${mergedTable(report, earlier)}`
    await replaceBetweenMarks(PAGE, `bench ${report.suite}`, tableBeside)
  }
}

async function runSuite(name: string, suite: Suite, rounds: number, only: string): Promise<SuiteReport> {
  const report: SuiteReport = { suite: name, results: [], comparisons: suite.comparisons, skipped: suite.skipped }
  try {
    for (const comparison of suite.comparisons.filter((candidate) => candidate.name.includes(only))) {
      process.stderr.write(`${comparison.name} …\n`)
      report.results.push(await compare(comparison, rounds))
    }
  } finally {
    await suite.close()
  }
  return report
}

await program.parseAsync()
