/** Which versions of the programs of others are tested: the pinned ones or, with `ARGS=--newest`, the newest. */
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { REPOSITORY } from '../support/pipeline.ts'

const { NEWEST_CLIENTS } = process.env

export const TAKES_NEWEST = NEWEST_CLIENTS === '1'

const NOTES = join(REPOSITORY, 'node_modules/.cache/newest-clients.ndjson')

/** A package that tests used in place of a pinned one. */
export interface Note {
  file: string
  /** Missing where all tests of the file used it. */
  test: string | undefined
  name: string
  pinned: string
  /** The version that was tested, or why there was none. */
  newest: string
}

/**
 * The packages to install in place of pinned ones, such as `pandas==3.1.1` or `openapi-fetch@0.17.0`, and a name for
 * their folder. Ranges such as `typescript@~5.9.3` stay: they are what another package needs.
 */
export function asWanted(pinned: readonly string[]): { packages: readonly string[]; folder: string } {
  const packages = TAKES_NEWEST ? pinned.map((one) => split(one).name) : pinned
  const since = TAKES_NEWEST ? [`newest-${new Date().toISOString().slice(0, 10)}`] : []
  return { packages, folder: [...since, ...packages].join('-').replaceAll(/[^A-Za-z0-9.]+/g, '-') }
}

/**
 * Notes for the table which versions are there in place of the pinned ones, or why they could not be installed. In a run
 * with the newest versions that is a failure and no reason to skip.
 */
export async function noteVersions(
  pinned: readonly string[],
  made: { reason: string } | object,
  versionOf: (name: string) => Promise<string>,
): Promise<void> {
  if (!TAKES_NEWEST) return
  const reason = 'reason' in made ? made.reason : undefined
  const { testPath: file = '', currentTestName: test } = expect.getState()
  for (const one of pinned) {
    const { name, version } = split(one)
    if (version === undefined) continue
    const newest = reason ?? (await versionOf(name.replace(/\[.*/, '')))
    const note: Note = { file, test, name, pinned: version, newest }
    await mkdir(dirname(NOTES), { recursive: true })
    await appendFile(NOTES, `${JSON.stringify(note)}\n`)
  }
  if (reason !== undefined) throw new Error(reason)
}

export async function readNotes(): Promise<Note[]> {
  const text = await readFile(NOTES, 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Note]))
}

export async function clearNotes(): Promise<void> {
  await rm(NOTES, { force: true })
}

/** `pandas==3.1.1` or `openapi-fetch@0.17.0` in its parts. A range has no `version`. */
function split(pinned: string): { name: string; version?: string } {
  const [, name = pinned, version] = /^(.+?)(?:==|(?<=.)@)(\d.*)$/.exec(pinned) ?? []
  return { name, ...(version !== undefined && { version }) }
}
