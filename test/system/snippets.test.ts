/** The code that the landing page gives to copy, run as it is. `test/clients/snippets.test.ts` runs the Python of it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishedCsv } from '../support/pipeline.ts'
import { weekTop } from '../support/week.ts'
import { runSnippet, useWeek } from './snippet.ts'

const week = useWeek()

it('the JavaScript of the landing page finds the models with the most tokens of the last week', async () => {
  const { stdout, stderr } = await runSnippet('tokens.mjs', process.execPath, week.url())
  expect(stderr).toBe('')
  expect(stdout).toBe(weekTop())
})

describe('the curl lines of the landing page', () => {
  it('download all rows and verify them', async () => {
    const { code, stdout, stderr, folder } = await runSnippet('download.sh', 'sh', week.url())
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('rankings-daily.csv: OK\n')
    expect(await readFile(join(folder, 'rankings-daily.csv'), 'utf8')).toBe(await publishedCsv(week.workspace()))
  })

  it('fail when the address is wrong', async () => {
    const { code, stderr } = await runSnippet('download.sh', 'sh', `${week.url()}elsewhere`)
    expect(code).not.toBe(0)
    expect(stderr).toContain('404')
  })
})
