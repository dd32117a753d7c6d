import type { Provenance } from '../contract/provenance.ts'

export interface ProvenanceDifferences {
  tools: string[]
  /** Inputs only of the first release, by its ordinals. */
  gone: Provenance['inputs']
  /** Inputs only of the second release, by its ordinals. */
  other: Provenance['inputs']
}

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

const SHOWN = 12

export function shown(text: string | null): string {
  return text === null ? 'none' : text.slice(0, SHOWN)
}

function withoutThose(inputs: Provenance['inputs'], others: Provenance['inputs']): Provenance['inputs'] {
  const left = new Map([...Map.groupBy(others, ({ sha256 }) => sha256)].map(([sha256, { length }]) => [sha256, length]))
  return inputs.filter(({ sha256 }) => {
    const count = left.get(sha256) ?? 0
    left.set(sha256, count - 1)
    return count <= 0
  })
}
