/** Reads what is published beside the releases. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ChangeRow, Coverage, type CoverageDay, Restatements } from '../../pipeline/contract/history.ts'
import { ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { RankingResponse } from '../../pipeline/contract/ranking.ts'
import { datasetFolder, type Workspace } from './pipeline.ts'

async function json(workspace: Workspace, path: string): Promise<unknown> {
  return JSON.parse(await text(workspace, path))
}

/** A file below the folder of the dataset. */
export function text(workspace: Workspace, path: string): Promise<string> {
  return readFile(join(datasetFolder(workspace), path), 'utf8')
}

export async function readCoverage(workspace: Workspace): Promise<Coverage> {
  return Coverage.parse(await json(workspace, 'coverage.json'))
}

export async function coveredDay(workspace: Workspace, date: string): Promise<CoverageDay | undefined> {
  return (await readCoverage(workspace)).days.find((day) => day.date === date)
}

export async function readRestatements(workspace: Workspace): Promise<Restatements['restatements']> {
  return Restatements.parse(await json(workspace, 'restatements.json')).restatements
}

export async function readIndex(workspace: Workspace): Promise<ReleaseIndex> {
  return ReleaseIndex.parse(await json(workspace, 'releases/index.json'))
}

export async function readDay(workspace: Workspace, path: string): Promise<RankingResponse> {
  return RankingResponse.parse(await json(workspace, path))
}

/** The names in a folder of the dataset. */
export async function namesIn(workspace: Workspace, path: string): Promise<string[]> {
  return (await readdir(join(datasetFolder(workspace), path))).toSorted()
}

/** The lines of a release's changes.csv. Slugs of these tests need no quotes. */
export async function readChanges(workspace: Workspace, release: string): Promise<ChangeRow[]> {
  const [header, ...lines] = (await text(workspace, `releases/${release}/changes.csv`)).trimEnd().split('\n')
  if (header !== 'op,date,model_permaslug,tokens_before,tokens_after') throw new Error(`the header is ${header}`)
  return lines.map((line) => {
    const [op, date, model_permaslug, tokens_before, tokens_after] = line.split(',')
    return ChangeRow.parse({ op, date, model_permaslug, tokens_before, tokens_after })
  })
}

/** The rows of a release by date and slug, as its CSV has them. */
export async function readTokens(workspace: Workspace, release: string): Promise<Map<string, string>> {
  const lines = (await text(workspace, `releases/${release}/rankings-daily.csv`)).trimEnd().split('\n').slice(1)
  return new Map(lines.map(tokensOfLine))
}

function tokensOfLine(line: string): [key: string, tokens: string] {
  const cut = line.lastIndexOf(',')
  return [line.slice(0, cut), line.slice(cut + 1)]
}

/** Does to rows what a change log says, by the plain meaning of its words. */
export function apply(rows: Map<string, string>, changes: readonly ChangeRow[]): Map<string, string> {
  const result = new Map(rows)
  for (const { op, date, model_permaslug, tokens_before, tokens_after } of changes) {
    const key = `${date},${model_permaslug}`
    const found = result.get(key) ?? ''
    if (found !== tokens_before) throw new Error(`${op} of ${key} expects ${tokens_before} and finds ${found}`)
    if (op === 'delete') result.delete(key)
    else result.set(key, tokens_after)
  }
  return result
}

/** Rows that stand in another order, in one that can be compared. */
export function inOrder(rows: Map<string, string>): string[] {
  return [...rows].map(([key, tokens]) => `${key},${tokens}`).sort()
}
