/** Half of a character, which Node and Python write where they cut a text, is read as U+FFFD, and nothing else changes. */
import { expect, it } from 'vitest'
import { buildIn, newWorkspace, publishedCsv, rowsOf, writeInput, writeSource } from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'

/** JSON text with halves of characters in all places, a whole one, and an escape that only looks like one. */
const usageOf = (prompt: number) =>
  `{"no\\ud83dte":"\\uDE00\\uD83D\\\\","whole":"\\ud83d\\ude00","not":"\\\\ud83d","more":"\\ud83d\\ud83d\\ude00","prompt":${prompt}}`
const lineOf = (model: string, usage: string) =>
  `{"timestamp":"2025-03-02T12:00:00Z","model_permaslug":"${model}","usage":${usage},"completion_tokens":0}`

it('does not reject a record in any format', async () => {
  const workspace = await newWorkspace()
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  await writeInput(
    workspace,
    'a.csv',
    `timestamp,model_permaslug,usage,completion_tokens\n2025-03-02T12:00:00Z,a/csv,${quoted(usageOf(1))},0\n`,
  )
  await writeInput(workspace, 'b.ndjson', `${lineOf('a/b', usageOf(2))}\n${lineOf('a/\\ud83d\\ude00', usageOf(3))}\n`)
  await writeInput(workspace, 'c.ndjson', `${lineOf('a/text', JSON.stringify(usageOf(4)))}\n`)
  await writeInput(workspace, 'd.json', `[${lineOf('a/list', usageOf(5))},\n${lineOf('a/\\ud83d', usageOf(6))}]`)
  const repeated = usageOf(7).replace('{', '{"prompt":8,')
  await writeInput(workspace, 'e.ndjson', `${lineOf('a/repeated', repeated)}\n`)
  await query(
    `COPY (SELECT TIMESTAMP '2025-03-02 12:00:00' AS timestamp, 'a/parquet' AS model_permaslug, ${sqlText(usageOf(8))} AS usage,
      0 AS completion_tokens) TO ${sqlText(`${workspace.input}/f.parquet`)}`,
  )
  await writeSource(workspace, ['*.{csv,ndjson,parquet}', 'd.json'], { columns: { prompt_tokens: 'usage.prompt' } })
  const { records } = await buildIn(workspace)
  expect(records.rejected).toEqual({})
  expect(rowsOf(await publishedCsv(workspace))).toEqual([
    ...['parquet 8', 'repeated 7', '\ufffd 6', 'list 5', 'text 4', '😀 3', 'b 2', 'csv 1'].map(
      (row) => `2025-03-02 a/${row}`,
    ),
  ])
})
