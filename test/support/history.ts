/** Reads what is published beside the releases. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Coverage, type CoverageDay, Restatements } from '../../pipeline/contract/ledger.ts'
import { ReleaseIndex } from '../../pipeline/contract/manifest.ts'
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

/** The names in a folder of the dataset. */
export async function namesIn(workspace: Workspace, path: string): Promise<string[]> {
  return (await readdir(join(datasetFolder(workspace), path))).toSorted()
}
