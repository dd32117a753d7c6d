import type { Provenance } from '../contract/provenance.ts'
import type { NumberedInput } from './inputs.ts'

export interface ProvenanceDifferences {
  tools: string[]
  /** Inputs only of the first release, by its ordinals. */
  gone: NumberedInput[]
  /** Inputs only of the second release, by its ordinals. */
  other: NumberedInput[]
}

/** `inputs`: those of both; undefined if it is not known which the first release had. */
export function compareProvenance(
  first: Provenance,
  second: Provenance,
  inputs: { first: readonly NumberedInput[]; second: readonly NumberedInput[] } | undefined,
): ProvenanceDifferences {
  const tools = toolsThatDiffer(first, second)
  if (inputs !== undefined) {
    const [gone, other] = [withoutThose(inputs.first, inputs.second), withoutThose(inputs.second, inputs.first)]
    return { tools, gone, other }
  }
  const isSame = JSON.stringify(first.inputs) === JSON.stringify(second.inputs)
  const unknown = `the inputs are others than those of the release, and it is not known which`
  return { tools: isSame ? tools : [...tools, unknown], gone: [], other: [] }
}

function toolsThatDiffer(first: Provenance, second: Provenance): string[] {
  const facts: [what: string, was: string | null, is: string | null][] = [
    ['the version of Tokenboard', first.code.version, second.code.version],
    ['the code of the pipeline', first.code.sha256, second.code.sha256],
    ['the SQL of the pipeline', first.sql_sha256, second.sql_sha256],
    ['DuckDB', first.duckdb, second.duckdb],
    ['the file of models', first.registry.models_sha256, second.registry.models_sha256],
    ['the file of aliases', first.registry.aliases_sha256, second.registry.aliases_sha256],
  ]
  return facts.flatMap(([what, was, is]) => (was === is ? [] : `${what} was ${shown(was)} and is ${shown(is)}`))
}

const SHOWN = 12

/** A version as it is, the beginning of a hash. */
export function shown(text: string | null): string {
  return text === null ? 'none' : /^[0-9a-f]{64}$/.test(text) ? text.slice(0, SHOWN) : text
}

function withoutThose(inputs: readonly NumberedInput[], others: readonly NumberedInput[]): NumberedInput[] {
  const left = new Map([...Map.groupBy(others, ({ sha256 }) => sha256)].map(([sha256, { length }]) => [sha256, length]))
  return inputs.filter(({ sha256 }) => {
    const count = left.get(sha256) ?? 0
    left.set(sha256, count - 1)
    return count <= 0
  })
}
