/** The analyses of docs/analyses.md: each is a query with the answer that the page shows below it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { REPOSITORY } from './pipeline.ts'
import { query } from './records.ts'

const [FRONT = '', ...SECTIONS] = readFileSync(join(REPOSITORY, 'docs/analyses.md'), 'utf8').split('\n## ')

/** The first code of a language in the section with this heading. */
export function analysisCode(heading: string, language: 'sql' | 'python'): string {
  return codeIn(sectionOf(heading), language)
}

/** The rows of the table in a section: names of columns first, then cells as text. */
export function analysisTable(heading: string): string[][] {
  const lines = sectionOf(heading)
    .split('\n')
    .filter((line) => line.startsWith('| '))
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** Asks the query of each section of a published folder, and expects the answer that the page shows. */
export async function expectAnalyses(publicDir: string, headings: readonly string[]): Promise<void> {
  const tables = codeIn(FRONT, 'sql').replace('http://127.0.0.1:8080', publicDir)
  for (const heading of headings) {
    const rows = await query(tables + analysisCode(heading, 'sql'))
    const answer = rows.map((row) => Object.values(row).map(cellOf))
    expect([Object.keys(rows[0] ?? {}), ...answer], heading).toEqual(analysisTable(heading))
  }
}

/** The row of the daily table that docs/researchers.md cites as an example. */
export function citedRow(): string {
  const page = readFileSync(join(REPOSITORY, 'docs/researchers.md'), 'utf8')
  const [, date = '', model, tokens = ''] = /^> On (.*?), (\S+) had ([\d,]+) tokens/m.exec(page) ?? []
  return `${new Date(`${date} UTC`).toISOString().slice(0, 10)},${model},${tokens.replaceAll(',', '')}\n`
}

function sectionOf(heading: string): string {
  const section = SECTIONS.find((each) => each.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`docs/analyses.md has no section ${heading}`)
  return section
}

function codeIn(text: string, language: string): string {
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(text)?.[1] ?? ''
}

function cellOf(value: unknown): string {
  return value instanceof Date ? value.toISOString().slice(0, 10) : String(value ?? '')
}
