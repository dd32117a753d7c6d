import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { describeMachine } from '../support/machine.ts'
import { replaceBetweenMarks } from '../support/page.ts'
import { explorer } from './explorer.ts'
import { compare, measureCurve, type Suite } from './measure.ts'
import { scale } from './records.ts'
import {
  type Circumstances,
  merged,
  readReports,
  reportText,
  type SuiteReport,
  titleOf,
  writeReports,
} from './report.ts'
import { server } from './server.ts'
import { day, files, memory, pipeline, scaling } from './suites.ts'

/** In the order of the page. Each is opened with a folder of its own. */
const SUITES: Readonly<Record<string, (folder: string) => Promise<Suite>>> = {
  ...{ pipeline, day, memory, files },
  ...{ server, explorer, scaling },
}
const NAMES = Object.keys(SUITES)

const PAGE = join(import.meta.dirname, '../../docs/performance.md')
const KEPT = join(import.meta.dirname, '../../docs/evidence/performance.json')

interface Options {
  rounds: number
  only: string
  json?: string
  write?: true
}

/** `make bench`: runs suites and prints their tables; `--write` puts them into docs/performance.md. */
const program = new Command('bench')
  .description('measure Tokenboard against bare DuckDB, bare Node and others; docs/performance.md says how to read it')
  .addArgument(new Argument('[suite...]', 'what to measure: everything unless some are named').choices(NAMES))
  .option('--rounds <number>', 'how often each is measured', readRounds, 5)
  .option('--only <text>', 'measure only what has this text in its name', '')
  .option('--json <file>', 'write all that was measured, and on which machine, into a file')
  .option('--write', 'put the tables into docs/performance.md')
  .action((names, options: Options) => run(names.length > 0 ? names : NAMES, options))

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
    const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
    try {
      const suite = (await SUITES[name]?.(folder)) ?? {}
      const report = await runSuite(name, suite, machine, options)
      known.push(...(suite.comparisons ?? []).map(titleOf), ...(suite.curves ?? []).map((curve) => curve.name))
      if (report.results.length + report.curves.length > 0) process.stdout.write(`${reportText(report)}\n\n`)
      reports.push(report)
      if (write) await keep(report, suite)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  if (reports.every(({ results, curves }) => results.length + curves.length === 0)) {
    program.error(`nothing has ${JSON.stringify(only)} in its name; there are\n  ${known.join('\n  ')}`)
  }
  if (json !== undefined) await writeReports(json, reports)
}

/** Puts what a suite found beside what was kept of earlier runs, and both into the page. */
async function keep(report: SuiteReport, suite: Suite): Promise<void> {
  const kept = await readReports(KEPT)
  const earlier = kept.find((other) => other.suite === report.suite)
  const both = merged(earlier, report, suite)
  const all = NAMES.flatMap((name) => [...kept, both].findLast((other) => other.suite === name) ?? [])
  await writeReports(KEPT, all)
  await replaceBetweenMarks(PAGE, `bench ${report.suite}`, () => `\n${reportText(both)}\n`)
}

async function runSuite(
  name: string,
  suite: Suite,
  machine: Circumstances,
  { rounds, only }: Options,
): Promise<SuiteReport> {
  const report: SuiteReport = { suite: name, results: [], curves: [], skipped: suite.skipped ?? [] }
  const isAsked = (title: string) => title.includes(only)
  try {
    for (const comparison of (suite.comparisons ?? []).filter((candidate) => isAsked(titleOf(candidate)))) {
      process.stderr.write(`${titleOf(comparison)} …\n`)
      report.results.push({ ...(await compare(comparison, rounds)), measured: machine })
    }
    for (const curve of (suite.curves ?? []).filter((candidate) => isAsked(candidate.name))) {
      process.stderr.write(`${curve.name} …\n`)
      report.curves.push({ ...(await measureCurve(curve, rounds)), measured: machine })
    }
  } finally {
    await suite.close?.()
  }
  return report
}

function circumstances(): Circumstances {
  const share = scale()
  return { ...describeMachine(), date: new Date().toISOString().slice(0, 10), ...(share < 1 && { scale: share }) }
}

await program.parseAsync()
