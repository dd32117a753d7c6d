import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

// Its types want the DOM, which no test here has.
const yaml: { load(text: string): unknown } = createRequire(import.meta.url)('js-yaml')

/** A small fault that the tests must find: one text of one source file, replaced by another. */
export interface Mutant {
  /** The room whose promise it breaks, and a name of its own there: `raw/late-hour-lost`. */
  name: string
  /** What the fault breaks, in the words of the specification or the docs where they have any. */
  promise: string
  /** The source file, from the top of the project. */
  file: string
  /** Text that occurs exactly once in the file. */
  find: string
  replace: string
  /** Test files of which at least one must fail: the fewest and fastest. */
  tests: readonly string[]
}

/** All mutants: one file a room, which lists them by the source file that they change. */
export const MUTANTS: readonly Mutant[] = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((room) => {
    const byFile = yaml.load(readFileSync(join(import.meta.dirname, room), 'utf8')) as Record<string, Mutant[]>
    return Object.entries(byFile).flatMap(([file, mutants]) =>
      mutants.map((mutant) => ({ ...mutant, name: `${room.replace('.yaml', '')}/${mutant.name}`, file })),
    )
  })

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
