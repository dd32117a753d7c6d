import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { historyQuery } from '../../pipeline/contract/history-table.ts'
import { escapeHtml } from '../../pipeline/contract/html.ts'
import { HISTORY_PATHS } from '../../pipeline/contract/published-paths.ts'
import { codeSection, SNIPPET_BASE, SNIPPETS, snippetText } from '../../pipeline/site/code.ts'
import { PUBLISHER } from '../support/manifest.ts'
import { createWorkspace, publishedCsv, REPOSITORY, removeWorkspace, type Workspace } from '../support/pipeline.ts'
import { query } from '../support/records.ts'
import { faultsOf, rankingRow, siteFacts } from '../support/site.ts'
import { documentedCode, EARLIER, earlierCsv, releaseWeek, weekTop } from '../support/week.ts'

const FOLDER = join(REPOSITORY, 'pipeline/site/snippets')
const ROWS = [rankingRow('2025-01-01', 'acme/one', 5)]

describe('the code snippets', () => {
  it('are all files of their folder', () => {
    expect(SNIPPETS.map(({ file }) => file).toSorted()).toEqual(readdirSync(FOLDER).toSorted())
  })

  it.each(SNIPPETS.map(({ file }) => file))('name the address of the files once, also in %s', (file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8')
    expect(text.split(SNIPPET_BASE)).toHaveLength(2)
    expect(snippetText(file, 'https://data.example.org/tokens')).toBe(
      text.replace(SNIPPET_BASE, 'https://data.example.org/tokens/'),
    )
  })

  it('escape the address of the publisher, so that it cannot end a string or start a command', () => {
    const base = new URL(`https://data.example.org/'";$(id)\`$&\\x y/`).href
    for (const { file } of SNIPPETS) {
      const [before = '', after = ''] = readFileSync(join(FOLDER, file), 'utf8').split(SNIPPET_BASE)
      const text = snippetText(file, base)
      expect(text.slice(before.length, text.length - after.length)).toMatch(/^https:\/\/[^'"`$\\\s]+\/$/)
    }
  })
})

describe('the section of code on the landing page', () => {
  it('shows each snippet with the address of the publisher, one at a time and without a script', () => {
    const { text } = codeSection(siteFacts(ROWS))
    expect(text).toContain('<h2 id="code">')
    for (const { file, name } of SNIPPETS) {
      expect(text).toContain(`<summary>${name}</summary>`)
      expect(text).toContain(`>${escapeHtml(snippetText(file, PUBLISHER.url).trimEnd())}</code>`)
    }
    expect(text).not.toContain(SNIPPET_BASE)
    expect(faultsOf(`<h1></h1>${text}`)).toEqual([])
    expect(text.match(/<details name="code"/g)).toHaveLength(SNIPPETS.length)
    expect(text.match(/<details name="code" open>/g)).toHaveLength(1)
  })
})

/** DuckDB would download an extension to read over HTTP, so a folder takes the place of the address. */
describe('the SQL', () => {
  let workspace: Workspace

  beforeAll(async () => {
    workspace = await createWorkspace()
    await releaseWeek(workspace)
  })

  afterAll(() => removeWorkspace(workspace))

  it('of the landing page finds the models with the most tokens of the last week', async () => {
    const rows = await query(snippetText('tokens.sql', workspace.publicDir))
    expect(rows.map(({ model_permaslug, tokens }) => `${model_permaslug},${tokens}\n`).join('')).toBe(weekTop())
  })

  it('of docs/researchers.md loads all rows in one line', async () => {
    const rows = await query(documentedCode('researchers.md', 'Load', 'FROM', workspace.publicDir))
    expect(csvOf(rows)).toBe(await publishedCsv(workspace))
  })

  it('of docs/history.md, and that of a dropped file, read an earlier release from the history', async () => {
    const { publicDir } = workspace
    const line = historyQuery(EARLIER, 'daily').replace('history.parquet', join(publicDir, HISTORY_PATHS.parquet))
    for (const sql of [documentedCode('history.md', 'As of any release', '--', publicDir), line]) {
      expect(csvOf(await query(sql))).toBe(await earlierCsv(workspace))
    }
  })
})

function csvOf(rows: Record<string, unknown>[]): string {
  const lines = rows.map(({ date, model_permaslug, total_tokens }) => {
    return `${(date as Date).toISOString().slice(0, 10)},${model_permaslug},${total_tokens}\n`
  })
  return `date,model_permaslug,total_tokens\n${lines.join('')}`
}
