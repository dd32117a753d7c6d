import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compare } from './comparison.ts'
import { describeMachine, mergedTable, type SuiteReport, table } from './report.ts'
import type { Suite } from './suite.ts'

const SUITES: Record<string, () => Promise<{ openSuite: () => Promise<Suite> }>> = {
  pipeline: () => import('./pipeline/suite.ts'),
  server: () => import('./server/suite.ts'),
}

const PAGE = join(import.meta.dirname, '../../docs/performance.md')

/**
 * `make bench ARGS="SUITE… [--rounds N] [--only TEXT] [--json FILE] [--write]"`: runs the suites (all of them without a
 * name), prints tables to stdout, and with `--write` puts them into docs/performance.md.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '7' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  })
  const names = positionals.length > 0 ? positionals : Object.keys(SUITES)
  const machine = describeMachine()
  const reports: SuiteReport[] = []
  for (const name of names) {
    const load = SUITES[name]
    if (load === undefined) throw new Error(`no suite ${name}; there are ${Object.keys(SUITES).join(', ')}`)
    const report = await runSuite(name, await (await load()).openSuite(), Number(values.rounds), values.only)
    process.stdout.write(`${table(report)}\n\n`)
    reports.push(report)
  }
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify({ machine, suites: reports }, null, 2)}\n`)
  if (values.write) for (const report of reports) await writeIntoPage(report, machine)
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

/** Replaces what stands between the marks of the suite, but for the rows of what was not measured this time. */
async function writeIntoPage(report: SuiteReport, machine: Record<string, string | number>): Promise<void> {
  const [begin, end] = [`<!-- bench ${report.suite} -->`, `<!-- end of bench ${report.suite} -->`]
  const page = await readFile(PAGE, 'utf8')
  const [before, rest] = page.split(begin, 2)
  const [earlier, after] = rest?.split(end, 2) ?? []
  if (before === undefined || earlier === undefined || after === undefined)
    throw new Error(`${PAGE} has no place for the suite ${report.suite}`)
  const on = Object.entries(machine).map(([key, value]) => `${key} ${value}`)
  await writeFile(
    PAGE,
    `${before}${begin}\nMeasured on: ${on.join(', ')}.\n\n${mergedTable(report, earlier)}\n${end}${after}`,
  )
}

await main()
