import { dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { ruleOf } from '../contract/disclosure.ts'
import { type Manifest, ReleaseName } from '../contract/manifest.ts'
import { formOfInputs, type InputsForm, type ListedInput, type Provenance } from '../contract/provenance.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { Warning } from '../dataset/checks.ts'
import { publishedWarnings } from '../dataset/records.ts'
import type { UnreadableFile } from '../raw/records.ts'
import { merkleRoot } from './merkle.ts'

/** A raw file that a release was made from. `sha256` is its published name; see `inputNames`. */
const Input = z.strictObject({ sha256: z.string(), source: z.string(), file: z.string() })
export type Input = z.infer<typeof Input>

const Unreadable = z.strictObject({ source: z.string(), file: z.string(), documents: z.int() })

/** An input of a release. If its list was published, only the name is known. */
export type FormerInput = Pick<Input, 'sha256'> & Partial<Input>

/**
 * `DATA_DIR/provenance/RELEASE.json`: the inputs of a release, of which only the Merkle root is published, and its unreadable
 * files. The other facts are published without a disclosure rule, and kept here under one.
 */
const InputList = z.strictObject({
  release: ReleaseName,
  inputs: z.array(Input),
  last_credible_date: UtcDate.optional(),
  warnings: z.array(Warning).optional(),
  unreadable: z.array(Unreadable).optional(),
})
export interface KeptFacts extends Omit<z.infer<typeof InputList>, 'release' | 'inputs'> {
  inputs: readonly Input[]
}

export function inputListPath(dataDir: string, release: ReleaseName): string {
  return join(dataDir, 'provenance', `${release}.json`)
}

export async function keepFacts(
  { inputs, ...facts }: KeptFacts,
  { dataDir, release, files }: { dataDir: string; release: ReleaseName; files: Files },
): Promise<void> {
  const path = inputListPath(dataDir, release)
  await files.makeFolder(dirname(path))
  await replaceFile(files, path, toJson({ release, inputs: inSequence(inputs), ...facts }))
}

/** Reads the facts again; undefined if there are none. Throws `BuildError` if others were published. */
export async function readFacts(path: string, published: Provenance['inputs']): Promise<KeptFacts | undefined> {
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const { release: _, ...kept } = parseJson(InputList, text, path, BuildError)
  const { inputs } = kept
  if (JSON.stringify(publishedInputs(inputs, formOfInputs(published))) === JSON.stringify(published)) return kept
  throw new BuildError(`${path} does not have the inputs of provenance.json; restore it from a backup`)
}

/** The warnings of a release in `folder`: published, or kept here under a disclosure rule. */
export async function warningsOf(
  { release, disclosure }: Pick<Manifest, 'release' | 'disclosure'>,
  folder: string,
  dataDir: string,
): Promise<Warning[]> {
  return ruleOf(disclosure) === undefined ? publishedWarnings(folder) : ((await kept(dataDir, release)).warnings ?? [])
}

/** The files that a release was published with although they have unreadable documents. */
export async function unreadableIn(release: ReleaseName, dataDir: string): Promise<UnreadableFile[]> {
  return (await kept(dataDir, release)).unreadable ?? []
}

async function kept(dataDir: string, release: ReleaseName): Promise<Partial<z.infer<typeof InputList>>> {
  const path = inputListPath(dataDir, release)
  const text = await readTextIfAny(path)
  return text === undefined ? {} : parseJson(InputList, text, path, BuildError)
}

/** What is published of inputs: up to version 0.4.0 a list. */
export function publishedInputs(inputs: readonly Input[], form: InputsForm): Provenance['inputs'] {
  if (form === 'list') return numbered(inputs).map(({ ordinal, sha256 }) => ({ ordinal, sha256 }))
  const merkle_root = merkleRoot(inputs.map(({ sha256 }) => sha256))
  return form === 'root' ? { merkle_root } : { count: inputs.length, merkle_root }
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
