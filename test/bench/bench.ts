import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { describeMachine, measuredOn } from '../support/machine.ts'
import { replaceBetweenMarks } from '../support/page.ts'
import { compare } from './comparison.ts'
import { mergedTable, type SuiteReport, table } from './report.ts'
import type { Suite } from './suite.ts'

const SUITES: Record<string, () => Promise<{ openSuite: () => Promise<Suite> }>> = {
  pipeline: () => import('./pipeline/suite.ts'),
  server: () => import('./server/suite.ts'),
}

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
  .addArgument(
    new Argument('[suite...]', 'what to measure: all of them unless some are named').choices(Object.keys(SUITES)),
  )
  .option('--rounds <number>', 'how often each is measured', readRounds, 7)
  .option('--only <text>', 'measure only the comparisons whose name has this text', '')
  .option('--json <file>', 'write all that was measured, and on which machine, into a file')
  .option('--write', 'put the tables into docs/evidence/performance.md')
  .action((names, options: Options) => run(names.length > 0 ? names : Object.keys(SUITES), options))

function readRounds(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 9999.')
  return Number(text)
}

async function run(names: readonly string[], { rounds, only, json, write }: Options): Promise<void> {
  const machine = describeMachine()
  const reports: SuiteReport[] = []
  for (const name of names) {
    const suite = await SUITES[name]?.()
    if (suite === undefined) continue
    const report = await runSuite(name, await suite.openSuite(), rounds, only)
    if (report.results.length > 0) process.stdout.write(`${table(report)}\n\n`)
    reports.push(report)
  }
  if (reports.every(({ results }) => results.length === 0)) {
    const known = reports.flatMap(({ comparisons }) => comparisons.map((comparison) => `\n  ${comparison.name}`))
    program.error(`no comparison has ${JSON.stringify(only)} in its name; there are${known.join('')}`)
  }
  if (json !== undefined) await writeFile(json, `${JSON.stringify({ machine, suites: reports }, null, 2)}\n`)
  if (write) for (const report of reports) await writeIntoPage(report, machine)
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

/** Replaces the table of the suite, but for the rows of what was not measured this time. */
function writeIntoPage(report: SuiteReport, machine: Record<string, string | number>): Promise<void> {
  return replaceBetweenMarks(
    PAGE,
    `bench ${report.suite}`,
    (earlier) => `${measuredOn(machine)}\n\n${mergedTable(report, earlier)}`,
  )
}

await program.parseAsync()
