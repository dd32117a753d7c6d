/**
 * Two months of real published numbers, delivered every fourth day with the corrections that came later: the change logs lead
 * from the first release to the last, and a day that nothing corrected keeps its one revision.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verify } from '../../../pipeline/publication/verify.ts'
import { apply, inOrder, readChanges, readCoverage, readIndex, readTokens } from '../../support/history.ts'
import { buildIn, newWorkspace, REPOSITORY, writeInput } from '../../support/pipeline.ts'

const FOLDER = join(REPOSITORY, '../shared/data/openrouter-rankings-daily')
const isThere = existsSync(FOLDER)
if (!isThere) process.stderr.write(`SKIPPED: the replay needs ${FOLDER}, which is not there\n`)

interface Row {
  date: string
  model: string
  tokens: string
}

type Column = 'date' | 'model_permaslug' | 'total_tokens' | 'captured_at' | 'tokens_before'

/** The rows of models of a CSV file whose slugs need no quotes; those of the rest are left out. */
async function readCsv(name: string): Promise<Partial<Record<Column, string>>[]> {
  const [header = '', ...lines] = (await readFile(join(FOLDER, name), 'utf8')).trimEnd().split('\n')
  const columns = header.split(',')
  const rows = lines.map(
    (line): Partial<Record<Column, string>> =>
      Object.fromEntries(line.split(',').map((value, at) => [columns[at] ?? '', value])),
  )
  return rows.filter(({ model_permaslug }) => model_permaslug !== 'other')
}

/** For each day the rows that are known a little after midnight, as the captures had them. */
async function captures(): Promise<{ day: string; rows: Row[] }[]> {
  const last = await readCsv('rankings-daily.csv')
  const corrections = await readCsv('restatements.csv')
  const days = [...new Set(last.map(({ date }) => date ?? ''))].sort()
  return days.map((day) => {
    const midnight = new Date(`${day}T00:00:00Z`).getTime() + 86_400_000
    const captured = new Date(midnight + 10 * 60_000)
    return {
      day,
      rows: last
        .filter(({ date = '' }) => date <= day)
        .map(({ date = '', model_permaslug: model = '', total_tokens = '' }) => {
          const later = corrections.find(
            (correction) =>
              correction.date === date &&
              correction.model_permaslug === model &&
              new Date(correction.captured_at ?? '') > captured,
          )
          return { date, model, tokens: later?.tokens_before ?? total_tokens }
        }),
    }
  })
}

/** What restated days there are is to be known: those whose last numbers the first capture that has them had not. */
function restatedDays(all: { rows: Row[] }[]): Set<string> {
  const [known, first] = [new Set<string>(), new Map<string, string>()]
  for (const { rows } of all) {
    for (const row of rows.filter(({ date }) => !known.has(date))) first.set(...entryOf(row))
    for (const { date } of rows) known.add(date)
  }
  const last = (all.at(-1)?.rows ?? []).map(entryOf)
  return new Set(last.filter(([key, tokens]) => first.get(key) !== tokens).map(([key]) => key.slice(0, 10)))
}

function entryOf({ date, model, tokens }: Row): [key: string, tokens: string] {
  return [`${date} ${model}`, tokens]
}

describe.skipIf(!isThere)('the replay of real published days', () => {
  it('has change logs that make the last release of the first one', async () => {
    const all = (await captures()).filter((_, index, { length }) => (length - 1 - index) % 4 === 0)
    const workspace = await newWorkspace()
    const source = { name: 'rankings', schema: 'canonical', files: ['rankings.csv'], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { on_missing: 'remove', sources: [source] })
    for (const { day, rows } of all) {
      const lines = rows.map(({ date, model, tokens }) => `${date}T12:00:00Z,${model},${tokens},0`)
      const text = ['timestamp,model_permaslug,prompt_tokens,completion_tokens', ...lines, ''].join('\n')
      await writeInput(workspace, 'rankings.csv', text)
      const midnight = new Date(`${day}T00:00:00Z`).getTime() + 86_400_000
      const asOf = new Date(midnight + 10 * 60_000).toISOString()
      expect((await buildIn(workspace, asOf)).outcome, day).toBe('released')
    }

    const { releases } = await readIndex(workspace)
    expect(releases).toHaveLength(all.length)
    const [first, last] = [releases.at(0)?.release ?? '', releases.at(-1)?.release ?? '']
    let tokens = await readTokens(workspace, first)
    for (const { release } of releases.slice(1)) tokens = apply(tokens, await readChanges(workspace, release))
    expect(inOrder(tokens)).toEqual(inOrder(await readTokens(workspace, last)))
    expect(tokens.size).toBe(new Set(all.at(-1)?.rows.map(({ date }) => date)).size * 50)

    const restated = restatedDays(all)
    expect(restated.size).toBeGreaterThan(5)
    const { days } = await readCoverage(workspace)
    for (const { date, revision } of days.filter(({ rows }) => rows > 0)) {
      expect(revision === 1, `${date} has revision ${revision}`).toBe(!restated.has(date))
    }
    const { signal } = new AbortController()
    expect(await verify(workspace.publicDir, { signal, report: () => {} })).toMatchObject({ releases: all.length })
  })
})
