import type { Provenance } from '../contract/provenance.ts'

/** How what a release was made from and with differs from what another one was. */
export interface ProvenanceDifferences {
  /** Such as `the code is that of tokenboard 1.2.0 and was that of 1.1.0`. */
  tools: string[]
  /** Inputs of the first that the second does not have, by their ordinals there. */
  gone: Provenance['inputs']
  /** Inputs that only the second has, by their ordinals there. */
  other: Provenance['inputs']
}

/** Compares the provenance of a release with that of one that was to be the same. */
export function compareProvenance(before: Provenance, after: Provenance): ProvenanceDifferences {
  return {
    tools: toolsThatDiffer(before, after),
    gone: withoutThose(before.inputs, after.inputs),
    other: withoutThose(after.inputs, before.inputs),
  }
}

function toolsThatDiffer(before: Provenance, after: Provenance): string[] {
  const facts: [what: string, was: string | null, is: string | null][] = [
    ['the version of Tokenboard', before.code.version, after.code.version],
    ['the code of the pipeline', before.code.sha256, after.code.sha256],
    ['the SQL of the pipeline', before.sql_sha256, after.sql_sha256],
    ['DuckDB', before.duckdb, after.duckdb],
    ['the file of models', before.registry.models_sha256, after.registry.models_sha256],
    ['the file of aliases', before.registry.aliases_sha256, after.registry.aliases_sha256],
  ]
  return facts.flatMap(([what, was, is]) => (was === is ? [] : `${what} was ${shown(was)} and is ${shown(is)}`))
}

/** Enough of a hash to know it by. */
const SHOWN = 12

export function shown(text: string | null): string {
  return text === null ? 'none' : text.slice(0, SHOWN)
}

/** The inputs whose content `others` has less often. */
function withoutThose(inputs: Provenance['inputs'], others: Provenance['inputs']): Provenance['inputs'] {
  const left = new Map([...Map.groupBy(others, ({ sha256 }) => sha256)].map(([sha256, { length }]) => [sha256, length]))
  return inputs.filter(({ sha256 }) => {
    const count = left.get(sha256) ?? 0
    left.set(sha256, count - 1)
    return count <= 0
  })
}
