/** The Python and R that the landing page and the documentation give to copy, run as it is. Where PyPI cannot be reached or R is missing, this is skipped and says so. */
import { join } from 'node:path'
import { expect, it, onTestFinished, type TestContext } from 'vitest'
import { analysisCode, analysisTable } from '../support/analyses.ts'
import { publishedCsv } from '../support/pipeline.ts'
import { documentedCode, earlierCsv, weekTop } from '../support/week.ts'
import { isInstalled, skipLoudly } from '../system/hosting.ts'
import { serveSample } from '../system/sample-site.ts'
import { runCode, runSnippet, useWeek } from '../system/snippet.ts'
import { DATA_TOOLS, pythonWith } from './python.ts'

const AS_OF = 'As of any release'
const week = useWeek()

/** The Python that has pandas, polars and DuckDB. Where there is none, the test is skipped. */
async function pythonOf({ skip }: TestContext): Promise<string> {
  const python = await pythonWith(DATA_TOOLS)
  return 'bin' in python ? join(python.bin, 'python') : skipLoudly(skip, python.reason)
}

it.for([
  ['pandas.py', 'url'],
  ['polars.py', 'url'],
  // DuckDB reads HTTP by an extension that it downloads from elsewhere; the folder takes the place of the address.
  ['duckdb.py', 'folder'],
] as const)(
  'the %s of the landing page finds the models with the most tokens of the last week',
  async ([file, place], context) => {
    const python = await pythonOf(context)
    const base = place === 'url' ? week.url() : week.workspace().publicDir
    const { stdout, stderr } = await runSnippet(file, python, base)
    expect(stdout, stderr).toBe(weekTop())
  },
)

it('the line of pandas in docs/researchers.md loads all rows', async (context) => {
  const python = await pythonOf(context)
  const code = documentedCode('researchers.md', 'Load', 'import pandas', week.url())
  const { stdout, stderr } = await runCode('load.py', `${code}print(rows.to_csv(index=False), end="")`, python)
  expect(stdout, stderr).toBe(await publishedCsv(week.workspace()))
})

it('the pandas of docs/analyses.md prints the numbers of its table', async (context) => {
  const python = await pythonOf(context)
  const sample = await serveSample()
  onTestFinished(() => sample.stop())
  const code = analysisCode('Share and level', 'python').replace('http://127.0.0.1:8080', sample.url)
  const { stdout, stderr } = await runCode('shares.py', code, python)
  const cells = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.replace(/\.0$/, '')))
  expect(cells, stderr).toEqual(analysisTable('Share and level').slice(1))
})

it.for(['pandas', 'polars'])('the %s of docs/history.md prints an earlier release', async (library, context) => {
  const python = await pythonOf(context)
  const code = documentedCode('history.md', AS_OF, `# pip install ${library}`, week.url())
  const { stdout, stderr } = await runCode('as-of.py', code, python)
  expect(stdout, stderr).toBe(await earlierCsv(week.workspace()))
})

it.for([
  ['line of R in docs/researchers.md loads all rows', publishedCsv, loadInR],
  [
    'R of docs/history.md prints an earlier release',
    earlierCsv,
    () => documentedCode('history.md', AS_OF, 'base <-', week.url()),
  ],
] as const)('the %s', async ([, expected, code], { skip }) => {
  if (!isInstalled('Rscript', '--version')) {
    skipLoudly(skip, 'R is not installed')
  }
  const { stdout, stderr } = await runCode('code.R', code(), 'Rscript')
  expect(stdout, stderr).toBe(await expected(week.workspace()))
})

/** R prints 15 digits unless told otherwise. */
function loadInR(): string {
  const print =
    'rows$total_tokens <- sprintf("%.0f", rows$total_tokens)\nwrite.csv(rows, quote = FALSE, row.names = FALSE)\n'
  return documentedCode('researchers.md', 'Load', 'rows <-', week.url()) + print
}
