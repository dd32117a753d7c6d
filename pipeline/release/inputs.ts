import { dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { ruleOf } from '../contract/disclosure.ts'
import { type Manifest, ReleaseName } from '../contract/manifest.ts'
import { formOfInputs, type InputsForm, type Provenance } from '../contract/provenance.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { Warning } from '../dataset/checks.ts'
import { publishedWarnings } from '../dataset/records.ts'
import type { UnreadableFile } from '../raw/records.ts'
import { merkleRoot } from './merkle.ts'

/** A raw file that a release was made from. `sha256` is its published name; see `inputNames`. */
const Input = z.strictObject({ sha256: z.string(), source: z.string(), file: z.string() })
export type Input = z.infer<typeof Input>

const Unreadable = z.strictObject({ source: z.string(), file: z.string(), documents: z.int() })

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

/** What is published of inputs. */
export function publishedInputs(inputs: readonly Input[], form: InputsForm): Provenance['inputs'] {
  const merkle_root = merkleRoot(inputs.map(({ sha256 }) => sha256))
  return form === 'root' ? { merkle_root } : { count: inputs.length, merkle_root }
}

/** An input with its position in the order of the hashes. */
export interface NumberedInput extends Input {
  ordinal: number
}

export function numbered(inputs: readonly Input[]): NumberedInput[] {
  return inSequence(inputs).map((input, position) => ({ ordinal: position + 1, ...input }))
}

/** By hash, so that the order of a published list reveals no name. */
function inSequence(inputs: readonly Input[]): Input[] {
  return inputs.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : a.sha256 > b.sha256 ? 1 : 0))
}
