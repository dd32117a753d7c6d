import { join } from 'node:path'
import { z } from 'zod'
import { BuildError, CliError } from '../base/errors.ts'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import type { Finding } from './checks.ts'

/** The check that always stops a release, until a pair of sources is accepted: `overlapping_sources:A+B`. */
const OVERLAPPING_SOURCES = 'overlapping_sources'
const PREFIX = `${OVERLAPPING_SOURCES}:`

/** `DATA_DIR/overlapping-sources.json`: the pairs that were accepted, and why. */
export const OVERLAPS_FILE = 'overlapping-sources.json'
const AcceptedPairs = z.array(z.strictObject({ sources: z.tuple([z.string(), z.string()]), note: z.string() }))
type AcceptedPairs = z.infer<typeof AcceptedPairs>

export type AcceptedPair = `${typeof PREFIX}${string}`

export function isPair(accepted: string): accepted is AcceptedPair {
  return accepted.startsWith(PREFIX)
}

/** Throws `CliError` for a pair that is accepted without saying why. */
export function checkNote(accepted: readonly string[], note: string | undefined): void {
  const pair = accepted.find((name) => name === OVERLAPPING_SOURCES || isPair(name))
  if (pair === undefined) return
  if (!isPair(pair)) throw new CliError(`--accept ${pair} must name the two sources: --accept ${PREFIX}A+B --note TEXT`)
  if (note === undefined) {
    throw new CliError(`--accept ${pair} needs --note TEXT, which says why the two sources have different requests`)
  }
}

/** What `--accept` takes for a finding. */
export function acceptedAs([one, other]: NonNullable<Finding['pair']>): AcceptedPair {
  return `${PREFIX}${one}+${other}`
}

/**
 * The findings of pairs that are accepted neither now nor before, and all pairs to remember. Throws `BuildError` if the file
 * of accepted pairs cannot be read.
 */
export async function judgePairs(
  findings: readonly Finding[],
  { dataDir, accepted, note }: { dataDir: string; accepted: readonly string[]; note: string | undefined },
): Promise<{ fresh: Finding[]; remembered: AcceptedPairs }> {
  const path = join(dataDir, OVERLAPS_FILE)
  const text = await readTextIfAny(path)
  const known = text === undefined ? [] : parseJson(AcceptedPairs, text, path, BuildError)
  const isOf = (pair: readonly string[], names: readonly string[]) => names.every((name) => pair.includes(name))
  const found = findings.flatMap(({ pair }) => (pair === undefined ? [] : [pair]))
  const unknown = found.filter((pair) => !known.some(({ sources }) => isOf(pair, sources)))
  const isAccepted = ([one, other]: readonly [string, string]) => {
    return accepted.includes(acceptedAs([one, other])) || accepted.includes(acceptedAs([other, one]))
  }
  const now = unknown.filter(isAccepted).map((sources) => ({ sources, note: note ?? '' }))
  const fresh = findings.filter(({ pair }) => pair !== undefined && unknown.includes(pair) && !isAccepted(pair))
  return { fresh, remembered: [...known, ...now] }
}

export async function rememberPairs(dataDir: string, pairs: AcceptedPairs, files: Files): Promise<void> {
  if (pairs.length > 0) await replaceFile(files, join(dataDir, OVERLAPS_FILE), toJson(pairs))
}
