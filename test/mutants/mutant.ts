import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A small fault that the tests must find: one text of one source file, replaced by another. */
export interface Mutant {
  name: string
  /** What the fault breaks, in the words of the specification or the docs where they have any. */
  promise: string
  /** The source file, from the top of the project. */
  file: string
  /** Exact text that occurs once in the file. */
  find: string
  replace: string
  /** Test files of which at least one must fail: the fewest and fastest. */
  tests: readonly string[]
}

/** The source with the fault in it. Throws when the list and the source have drifted apart. */
export function mutate(source: string, { name, file, find, replace }: Mutant): string {
  const [before = '', after, ...rest] = source.split(find)
  if (after === undefined) throw new Error(`mutant ${name}: ${file} does not contain ${JSON.stringify(find)}`)
  if (rest.length > 0) throw new Error(`mutant ${name}: ${file} contains ${JSON.stringify(find)} more than once`)
  return before + replace + after
}

/** Reads the file of a mutant below `root` and returns it without and with the fault. */
export function readMutated(root: string, mutant: Mutant): { original: string; mutated: string } {
  const original = readFileSync(join(root, mutant.file), 'utf8')
  return { original, mutated: mutate(original, mutant) }
}
