import { UsageError } from '../base/errors.ts'
import { nearest } from '../contract/nearest.ts'
import { type Registry, splitVariant } from '../raw/registry.ts'
import type { WithheldModel } from './quality.ts'
import type { RegistryFile } from './registry-file.ts'

/** What the registry has already, by which a name is told from a slip of the pen. */
interface Known {
  registry: Registry
  file: RegistryFile | undefined
  add: 'public' | 'private' | undefined
}

/**
 * The models that are meant by `names`, or all without names. Throws `UsageError` for a name that is in neither the logs
 * nor the registry, and for one that is to be added and has the other visibility there.
 */
export function chooseModels(
  unknown: readonly WithheldModel[],
  names: readonly string[],
  known: Known,
): WithheldModel[] {
  if (names.length === 0) return [...unknown]
  for (const name of names) assertMeansSomething(name, unknown, known)
  return unknown.filter(({ model }) => names.some((name) => matches(name, model)))
}

function assertMeansSomething(name: string, unknown: readonly WithheldModel[], { registry, file, add }: Known): void {
  if (unknown.some(({ model }) => matches(name, model))) return
  const visibility = registry.visibility(registry.resolve(name))
  if (visibility !== 'withheld') {
    if (add === undefined || add === visibility) return
    const place = file?.path ?? 'the registry'
    throw new UsageError(`${JSON.stringify(name)} is ${visibility} in ${place} already; change "public" there`)
  }
  if (file?.names.some((listed) => matches(name, listed))) return
  const meant = nearest(name, [...unknown.map(({ model }) => model), ...(file?.names ?? [])])
  const hint =
    meant === undefined
      ? '; `tokenboard models` lists those that are unknown'
      : `, did you mean ${JSON.stringify(meant)}?`
  throw new UsageError(`no model of the logs or of the registry is called ${JSON.stringify(name)}${hint}`)
}

/** Whether a name is that of a pattern, in which * stands for any text; a pattern matches itself, too. */
export function matches(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (pattern === name || last === undefined) return pattern === name
  if (!name.startsWith(first)) return false
  let position = first.length
  for (const part of others) {
    const found = name.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return name.length - last.length >= position && name.endsWith(last)
}

/**
 * The entries that `chosen` need, of all models that are unknown: a variant needs none where its base gets one, whether it
 * was chosen or not, for the registry takes it for its base.
 */
export function entriesOf(
  chosen: readonly WithheldModel[],
  unknown: readonly WithheldModel[],
  isPublic: boolean,
): { added: (WithheldModel & { public: boolean })[]; covered: (WithheldModel & { follows: string })[] } {
  const entered = new Set<string>()
  // A base is shorter than its variants, and one that is a variant itself may follow its own base.
  const shortestFirst = chosen.map(({ model }) => model).sort((a, b) => a.length - b.length)
  for (const model of shortestFirst) if (!entered.has(baseOf(model))) entered.add(model)
  return {
    added: chosen.filter(({ model }) => entered.has(model)).map((model) => ({ ...model, public: isPublic })),
    covered: unknown
      .filter(({ model }) => !entered.has(model) && entered.has(baseOf(model)))
      .map((model) => ({ ...model, follows: baseOf(model.model) })),
  }
}

/** The model that a variant follows; empty, which no model is, for what is no variant. */
function baseOf(model: string): string {
  return splitVariant(model)?.base ?? ''
}
