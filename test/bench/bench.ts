import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { describeMachine } from '../support/machine.ts'
import { replaceBetweenMarks } from '../support/page.ts'
import { scale } from './build.ts'
import { compare, type Suite } from './comparison.ts'
import { type Curve, measureCurve } from './curve.ts'
import { draw, picturesOf } from './pictures.ts'
import { reportText } from './report.ts'
import { type Circumstances, merged, readReports, type SuiteReport, titleOf, writeReports } from './results.ts'

const SUITES = ['pipeline', 'day', 'memory', 'files', 'server', 'explorer', 'scaling']

const DOCS = join(import.meta.dirname, '../../docs')
const PAGE = join(DOCS, 'performance.md')
const KEPT = join(DOCS, 'evidence/performance.json')

interface Options {
  rounds: number
  only: string
  json?: string
  write?: true
}

type OpenedSuite = Suite & { curves?: Curve[] }

/** `make bench`: runs suites and prints their tables; `--write` puts them into docs/performance.md. */
const program = new Command('bench')
  .description('measure Tokenboard against bare DuckDB, nginx and others; docs/performance.md says how to read it')
  .addArgument(new Argument('[suite...]', 'what to measure: everything unless some are named').choices(SUITES))
  .option('--rounds <number>', 'how often each is measured', readRounds, 5)
  .option('--only <text>', 'measure only what has this text in its name', '')
  .option('--json <file>', 'write all that was measured, and on which machine, into a file')
  .option('--write', 'put tables and pictures into docs/performance.md')
  .action((names, options: Options) => run(names.length > 0 ? names : SUITES, options))

function readRounds(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 9999.')
  return Number(text)
}

async function run(names: readonly string[], options: Options): Promise<void> {
  const { only, json, write } = options
  // Asked before anything is written: the commit is that of what runs.
  const machine = circumstances()
  const reports: SuiteReport[] = []
  const known: string[] = []
  for (const name of names) {
    const { openSuite }: { openSuite: () => Promise<OpenedSuite> } = await import(`./${name}/suite.ts`)
    const suite = await openSuite()
    const report = await runSuite(name, suite, machine, options)
    known.push(...suite.comparisons.map(titleOf), ...(suite.curves ?? []).map((curve) => curve.name))
    if (report.results.length + report.curves.length > 0) process.stdout.write(`${reportText(report)}\n\n`)
    reports.push(report)
    if (write) await keep(report, suite)
  }
  if (reports.every(({ results, curves }) => results.length + curves.length === 0)) {
    program.error(`nothing has ${JSON.stringify(only)} in its name; there are\n  ${known.join('\n  ')}`)
  }
  if (json !== undefined) await writeReports(json, reports)
}

/** Puts what a suite found beside what was kept of earlier runs, and both into the page. */
async function keep(report: SuiteReport, suite: OpenedSuite): Promise<void> {
  const kept = await readReports(KEPT)
  const earlier = kept.find((other) => other.suite === report.suite)
  const both = merged(earlier, report, suite)
  const all = SUITES.flatMap((name) => [...kept, both].findLast((other) => other.suite === name) ?? [])
  await writeReports(KEPT, all)
  const pictures = picturesOf(both.curves)
  for (const picture of pictures) await writeFile(join(DOCS, `images/${picture.id}.svg`), draw(picture))
  const links = pictures.map(({ id, title }) => `![${title}; the table has its numbers](images/${id}.svg)\n\n`)
  await replaceBetweenMarks(PAGE, `bench ${report.suite}`, () => `\n${links.join('')}${reportText(both)}\n`)
}

async function runSuite(
  name: string,
  suite: OpenedSuite,
  machine: Circumstances,
  { rounds, only }: Options,
): Promise<SuiteReport> {
  const report: SuiteReport = { suite: name, results: [], curves: [], skipped: suite.skipped }
  const isAsked = (title: string) => title.includes(only)
  try {
    for (const comparison of suite.comparisons.filter((candidate) => isAsked(titleOf(candidate)))) {
      process.stderr.write(`${titleOf(comparison)} …\n`)
      report.results.push({ ...(await compare(comparison, rounds)), measured: machine })
    }
    for (const curve of (suite.curves ?? []).filter((candidate) => isAsked(candidate.name))) {
      process.stderr.write(`${curve.name} …\n`)
      report.curves.push({ ...(await measureCurve(curve, rounds)), measured: machine })
    }
  } finally {
    await suite.close()
  }
  return report
}

function circumstances(): Circumstances {
  const share = scale()
  return { ...describeMachine(), date: new Date().toISOString().slice(0, 10), ...(share < 1 && { scale: share }) }
}

await program.parseAsync()
