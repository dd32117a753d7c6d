/** Logs that are written while a build runs: what it takes of a source is what is there when its turn comes. */
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildIn, newWorkspace, publishedCsv, rowsOf, writeInput } from '../../support/pipeline.ts'

const HEAD = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id\n'

function line(model: string, tokens: number): string {
  return `2025-03-02T12:00:00Z,${model},${tokens},0,${model}-${tokens}\n`
}

it.each<[string, (path: string) => void, string[]]>([
  ['grows', (path) => appendFileSync(path, line('late/two', 3)), ['late/two 3', 'late/one 2']],
  [
    'is rotated',
    (path) => {
      renameSync(path, path.replace('1.csv', '0.csv'))
      writeFileSync(path, HEAD + line('late/two', 3))
    },
    ['late/two 3', 'late/one 2'],
  ],
  ['is taken away', (path) => rmSync(path), []],
])('a file that %s before its source is read counts as it is at that moment', async (_, change, expected) => {
  const workspace = await newWorkspace()
  for (const name of ['early', 'late']) {
    await writeInput(workspace, `${name}/1.csv`, HEAD + line(`${name}/one`, name === 'early' ? 1 : 2))
  }
  const source = (name: string) => ({ name, schema: 'canonical', files: [`${name}/*.csv`], visibility: 'public' })
  await writeInput(workspace, 'sources.json', { sources: [source('early'), source('late')] })
  let isChanged = false
  await buildIn(workspace, undefined, {
    report: (event) => {
      if (isChanged || !JSON.stringify(event).includes('early')) return
      isChanged = true
      change(join(workspace.input, 'late/1.csv'))
    },
  })
  expect(isChanged).toBe(true)
  expect(rowsOf(await publishedCsv(workspace))).toEqual([...expected, 'early/one 1'].map((row) => `2025-03-02 ${row}`))
})
