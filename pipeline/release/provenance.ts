import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hashOfCode, hashOfSql } from '../base/code.ts'
import { BuildError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import type { Manifest, ManifestDraft } from '../contract/manifest.ts'
import { type InputsForm, Provenance, versionOfInputs } from '../contract/provenance.ts'
import { QUALITY_FILE } from '../contract/release-files.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { Input } from './inputs.ts'

export const PROVENANCE_FILE = 'provenance.json'

/** What a build read. */
export interface Ingredients {
  inputs: readonly Input[]
  form: InputsForm
  registry: Provenance['registry']
  last_credible_date?: Provenance['last_credible_date']
}

type Told = Pick<Provenance, 'registry' | 'inputs' | 'last_credible_date'>

export function provenanceOf(draft: ManifestDraft, { registry, inputs, last_credible_date }: Told): Provenance {
  const { dataset, release, as_of, version, content_hash, generator } = draft
  return {
    dataset,
    release,
    as_of,
    ...(last_credible_date && { last_credible_date }),
    schema_version: version,
    content_hash,
    code: { name: generator.name, version: generator.version, sha256: hashOfCode() },
    sql_sha256: hashOfSql(),
    duckdb: generator.duckdb,
    registry,
    provenance_version: versionOfInputs(inputs),
    inputs,
  }
}

/** Undefined for a release that was made of published rows. Throws `BuildError` if the file is invalid. */
export async function readProvenance(folder: string, { files }: Manifest): Promise<Provenance | undefined> {
  if (!files.some(({ path }) => path === PROVENANCE_FILE)) return undefined
  const path = join(folder, PROVENANCE_FILE)
  return parseJson(Provenance, await readFile(path, 'utf8'), path, BuildError)
}

/** Verifies that the provenance belongs to the release. Throws a `BuildError` that names the first difference. */
export async function verifyProvenance(folder: string, manifest: Manifest): Promise<void> {
  const provenance = await readProvenance(folder, manifest)
  if (provenance === undefined) return
  const path = join(folder, PROVENANCE_FILE)
  const { code, registry, inputs, last_credible_date } = provenance
  const expected = provenanceOf(manifest, { inputs, registry, last_credible_date })
  const listed = { ...provenance, code: { ...code, sha256: '' }, sql_sha256: '' }
  const same = { ...expected, code: { ...expected.code, sha256: '' }, sql_sha256: '' }
  const wrong = Object.entries(same).find(
    ([key, value]) => JSON.stringify(listed[key as keyof Provenance]) !== JSON.stringify(value),
  )
  if (wrong === undefined) return verifyLastCredibleDate(folder, last_credible_date)
  const [key, value] = wrong
  throw new BuildError(`${path} has another ${key} than the manifest, ${JSON.stringify(value)}`)
}

const Rejected = z.object({ records: z.object({ rejected: z.object({ invalid_timestamp: z.int().optional() }) }) })

/** Verifies that a `last_credible_date` is present only if records were rejected for their timestamp. */
async function verifyLastCredibleDate(folder: string, date: UtcDate | undefined): Promise<void> {
  if (date === undefined) return
  const path = join(folder, QUALITY_FILE)
  const { records } = parseJson(Rejected, await readFile(path, 'utf8'), path, BuildError)
  if (records.rejected.invalid_timestamp !== undefined) return
  throw new BuildError(
    `${join(folder, PROVENANCE_FILE)} has the last_credible_date ${date}, but ${path} has no record that was rejected for its timestamp`,
  )
}
