import { CliError } from '../base/errors.ts'
import { nearest } from '../contract/nearest.ts'
import { privateForm } from '../raw/model-names.ts'
import { type Registry, splitVariant } from '../raw/registry.ts'
import type { WithheldModel } from './quality.ts'
import type { RegistryFile } from './registry-file.ts'

interface Known {
  registry: Registry
  file: RegistryFile | undefined
  add: 'public' | 'private' | undefined
}

/**
 * The models meant by `names`; all if there are none. Throws `CliError` for a name that neither the logs nor the
 * registry has, and for a name whose visibility in the registry differs from `add`.
 */
export function chooseModels(
  unknown: readonly WithheldModel[],
  names: readonly string[],
  known: Known,
): WithheldModel[] {
  if (names.length === 0) return [...unknown]
  for (const name of names) checkName(name, unknown, known)
  return unknown.filter(({ model }) => names.some((name) => matches(name, model)))
}

function checkName(name: string, unknown: readonly WithheldModel[], { registry, file, add }: Known): void {
  if (unknown.some(({ model }) => matches(name, model))) return
  const visibility = registry.visibility(registry.resolve(name))
  if (visibility !== 'withheld') {
    if (add === undefined || add === visibility) return
    const place = file?.path ?? 'the registry'
    throw new CliError(`${JSON.stringify(name)} is ${visibility} in ${place} already; change "public" there`)
  }
  if (file?.names.some((listed) => matches(name, listed))) return
  const meant = nearest(name, [...unknown.map(({ model }) => model), ...(file?.names ?? [])])
  const hint =
    meant === undefined ? '; `tokenboard models` lists the unknown ones' : `, did you mean ${JSON.stringify(meant)}?`
  throw new CliError(`neither the logs nor the registry have a model ${JSON.stringify(name)}${hint}`)
}

/** Whether a pattern, in which * matches any text, matches a name. A pattern also matches itself. */
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
 * The registry entries for `chosen`. A variant needs none if its base gets one, which the registry resolves, unless it is
 * to be public and looks private.
 */
export function entriesOf(
  chosen: readonly WithheldModel[],
  unknown: readonly WithheldModel[],
  isPublic: boolean,
): { added: (WithheldModel & { public: boolean })[]; covered: (WithheldModel & { follows: string })[] } {
  const entered = new Set<string>()
  // A base is shorter than its variants and may itself be the variant of another base.
  const shortestFirst = chosen.map(({ model }) => model).sort((a, b) => a.length - b.length)
  const follows = (model: string) => entered.has(baseOf(model)) && !(isPublic && privateForm(model) !== undefined)
  for (const model of shortestFirst) if (!follows(model)) entered.add(model)
  return {
    added: chosen.filter(({ model }) => entered.has(model)).map((model) => ({ ...model, public: isPublic })),
    covered: unknown
      .filter(({ model }) => !entered.has(model) && follows(model))
      .map((model) => ({ ...model, follows: baseOf(model.model) })),
  }
}

function baseOf(model: string): string {
  return splitVariant(model)?.base ?? ''
}
