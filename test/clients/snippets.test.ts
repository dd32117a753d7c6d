/** The Python that the landing page and docs/researchers.md give to copy, run as it is. Where PyPI cannot be reached, this is skipped and says so. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { weeksExample, weekTop } from '../support/week.ts'
import { skipLoudly } from '../system/hosting.ts'
import { runCode, runSnippet, useWeek } from '../system/snippet.ts'
import { DATA_TOOLS, pythonWith } from './python.ts'

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
  const { stdout, stderr } = await runCode('weeks.py', weeksExample('python', week.url()), join(python.bin, 'python'))
  expect(stdout, stderr).toBe(weekTop())
})
