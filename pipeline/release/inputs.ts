import { dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { ReleaseName } from '../contract/manifest.ts'
import type { ListedInput, Provenance } from '../contract/provenance.ts'
import { merkleRoot } from './merkle.ts'

/** A raw file that a release was made from. `sha256` is its published name; see `inputNames`. */
const Input = z.strictObject({ sha256: z.string(), source: z.string(), file: z.string() })
export type Input = z.infer<typeof Input>

/** An input of a release. If its list was published, only the name is known. */
export type FormerInput = Pick<Input, 'sha256'> & Partial<Input>

/** `DATA_DIR/provenance/RELEASE.json`: the inputs of a release, of which only the Merkle root is published. */
const InputList = z.strictObject({ release: ReleaseName, inputs: z.array(Input) })

export function inputListPath(dataDir: string, release: ReleaseName): string {
  return join(dataDir, 'provenance', `${release}.json`)
}

export async function keepInputs(
  inputs: readonly Input[],
  { dataDir, release, files }: { dataDir: string; release: ReleaseName; files: Files },
): Promise<void> {
  const path = inputListPath(dataDir, release)
  await files.makeFolder(dirname(path))
  await replaceFile(files, path, toJson({ release, inputs: inSequence(inputs) }))
}

/** Reads the list again; undefined if there is none. Throws `BuildError` if it is not the one that was published. */
export async function readInputs(path: string, published: Provenance['inputs']): Promise<Input[] | undefined> {
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const { inputs } = parseJson(InputList, text, path, BuildError)
  if (JSON.stringify(publishedInputs(inputs)) === JSON.stringify(published)) return inputs
  throw new BuildError(
    `${path} does not have the count and the merkle_root of provenance.json; restore it from a backup`,
  )
}

/** What is published of inputs: up to version 0.4.0 a list. */
export function publishedInputs(inputs: readonly Input[], isListed = false): Provenance['inputs'] {
  if (isListed) return numbered(inputs).map(({ ordinal, sha256 }) => ({ ordinal, sha256 }))
  return { count: inputs.length, merkle_root: merkleRoot(inputs.map(({ sha256 }) => sha256)) }
}

/** An input with its position in the order of the hashes. Without a file, only the published list is known. */
export interface NumberedInput extends ListedInput, Partial<Input> {
  sha256: string
}

export function numbered<Listed extends Pick<Input, 'sha256'>>(
  inputs: readonly Listed[],
): (Listed & { ordinal: number })[] {
  return inSequence(inputs).map((input, position) => ({ ordinal: position + 1, ...input }))
}

/** By hash, so that the order of a published list reveals no name. */
function inSequence<Listed extends Pick<Input, 'sha256'>>(inputs: readonly Listed[]): Listed[] {
  return inputs.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : a.sha256 > b.sha256 ? 1 : 0))
}
