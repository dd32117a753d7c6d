import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest } from '../contract/manifest.ts'
import { Provenance } from '../contract/provenance.ts'
import { BuildError } from '../errors.ts'
import { parseJson } from '../json.ts'
import { hashOfCode, hashOfSql } from './code.ts'

/** The file of a release that says what it was made from and with. */
export const PROVENANCE_FILE = 'provenance.json'

/** What a build has read. `inputs` are hashes of contents, in any order. */
export interface Ingredients {
  inputs: readonly string[]
  registry: Provenance['registry']
}

/** What a release is made from and with. */
export function provenanceOf(draft: Omit<Manifest, 'files'>, { inputs, registry }: Ingredients): Provenance {
  const { dataset, release, as_of, version, content_hash, generator } = draft
  return {
    dataset,
    release,
    as_of,
    schema_version: version,
    content_hash,
    code: { name: generator.name, version: generator.version, sha256: hashOfCode() },
    sql_sha256: hashOfSql(),
    duckdb: generator.duckdb,
    registry,
    inputs: inputs.toSorted().map((sha256, position) => ({ ordinal: position + 1, sha256 })),
  }
}

/** The provenance of a release, or undefined of one that was made before releases had it. */
export async function readProvenance(folder: string, { files }: Manifest): Promise<Provenance | undefined> {
  if (!files.some(({ path }) => path === PROVENANCE_FILE)) return undefined
  const path = join(folder, PROVENANCE_FILE)
  return parseJson(Provenance, await readFile(path, 'utf8'), path, BuildError)
}

/** Proves that the provenance is that of this release, and in its form. Throws `BuildError` that names what is off. */
export async function verifyProvenance(folder: string, manifest: Manifest): Promise<void> {
  const provenance = await readProvenance(folder, manifest)
  if (provenance === undefined) return
  const path = join(folder, PROVENANCE_FILE)
  const { code, registry, inputs } = provenance
  const expected = provenanceOf(manifest, { inputs: inputs.map(({ sha256 }) => sha256), registry })
  const told = { ...provenance, code: { ...code, sha256: '' }, sql_sha256: '' }
  const same = { ...expected, code: { ...expected.code, sha256: '' }, sql_sha256: '' }
  const wrong = Object.entries(same).find(
    ([key, value]) => JSON.stringify(told[key as keyof Provenance]) !== JSON.stringify(value),
  )
  if (wrong === undefined) return
  const [key, value] = wrong
  throw new BuildError(
    key === 'inputs'
      ? `${path} does not list its inputs by their hashes, numbered from 1`
      : `${path} has another ${key} than the manifest, ${JSON.stringify(value)}`,
  )
}
