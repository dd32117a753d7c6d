/** The Python and R that the landing page and docs/researchers.md give to copy, run as it is. Where PyPI cannot be reached or R is missing, this is skipped and says so. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { earlierCsv, researchersCode, weekTop } from '../support/week.ts'
import { isInstalled, skipLoudly } from '../system/hosting.ts'
import { runCode, runSnippet, useWeek } from '../system/snippet.ts'
import { DATA_TOOLS, pythonWith } from './python.ts'

const AS_OF = 'As of any release'
const week = useWeek()

it.for([
  ['pandas.py', 'url'],
  ['polars.py', 'url'],
  // DuckDB reads HTTP by an extension that it downloads from elsewhere; the folder takes the place of the address.
  ['duckdb.py', 'folder'],
] as const)(
  'the %s of the landing page finds the models with the most tokens of the last week',
  async ([file, place], { skip }) => {
    const python = await pythonWith(DATA_TOOLS)
    if (!('bin' in python)) {
      skipLoudly(skip, python.reason)
    }
    const base = place === 'url' ? week.url() : week.workspace().publicDir
    const { stdout, stderr } = await runSnippet(file, join(python.bin, 'python'), base)
    expect(stdout, stderr).toBe(weekTop())
  },
)

it('the pandas of docs/researchers.md finds them in the table of weeks', async ({ skip }) => {
  const python = await pythonWith(DATA_TOOLS)
  if (!('bin' in python)) {
    skipLoudly(skip, python.reason)
  }
  const code = researchersCode('Weeks and months', '# pip install pandas', week.url())
  const { stdout, stderr } = await runCode('weeks.py', code, join(python.bin, 'python'))
  expect(stdout, stderr).toBe(weekTop())
})

it.for(['pandas', 'polars'])('the %s of docs/researchers.md prints an earlier release', async (library, { skip }) => {
  const python = await pythonWith(DATA_TOOLS)
  if (!('bin' in python)) {
    skipLoudly(skip, python.reason)
  }
  const code = researchersCode(AS_OF, `# pip install ${library}`, week.url())
  const { stdout, stderr } = await runCode('as-of.py', code, join(python.bin, 'python'))
  expect(stdout, stderr).toBe(await earlierCsv(week.workspace()))
})

it('the R of docs/researchers.md prints an earlier release', async ({ skip }) => {
  if (!isInstalled('Rscript', '--version')) {
    skipLoudly(skip, 'R is not installed')
  }
  const { stdout, stderr } = await runCode('as-of.R', researchersCode(AS_OF, 'base <-', week.url()), 'Rscript')
  expect(stdout, stderr).toBe(await earlierCsv(week.workspace()))
})
