import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { Coverage, Restatements } from '../contract/ledger.ts'
import { COVERAGE_PATH, RESTATEMENTS_PATH } from '../contract/published-paths.ts'

export const NO_RESTATEMENTS: Restatements = { dataset: 'rankings-daily', restatements: [] }

/** Undefined if `coverage.json` is missing. Throws `BuildError` if it is invalid. */
export async function readCoverage(publicDir: string): Promise<Coverage | undefined> {
  const path = join(publicDir, COVERAGE_PATH)
  const text = await readTextIfAny(path)
  return text === undefined ? undefined : parseJson(Coverage, text, path, BuildError)
}

/** Empty if `restatements.json` is missing. Throws `BuildError` if it is invalid. */
export async function readRestatements(publicDir: string): Promise<Restatements> {
  const path = join(publicDir, RESTATEMENTS_PATH)
  const text = await readTextIfAny(path)
  if (text === undefined) return NO_RESTATEMENTS
  return parseJson(Restatements, text, path, BuildError)
}
