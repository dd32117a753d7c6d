import { readFileSync } from 'node:fs'
import { BuildError } from '../../base/errors.ts'
import { parseJson } from '../../base/json.ts'
import { compile } from './compile.ts'
import { column, over, utcDay, word } from './expression.ts'
import { Mapping } from './mapping.ts'
import type { Schema } from './schema.ts'

/** Schemas that a source may name. Each is a file of this folder, `NAME.json`. */
export const SCHEMA_NAMES = [
  'canonical',
  'vercel-generation',
  'openrouter-activity',
  'openrouter-activity-api',
  'openrouter-generation',
  'litellm-spend-logs',
  'litellm-daily-user-spend',
  'helicone-requests',
  'helicone-api',
  'langfuse-observations',
  'langfuse-api',
  'langsmith-runs',
  'portkey-logs',
  'bifrost-logs',
  'otel-genai-spans',
  'otlp-batches',
  'openinference-spans',
  'cloudflare-ai-gateway-logs',
  'openai-usage',
  'anthropic-usage',
  'bedrock-invocations',
  'azure-apim-llm-logs',
  'vertex-ai-logs',
  'kong-ai-gateway',
  'new-api-logs',
] as const
export type SchemaName = (typeof SCHEMA_NAMES)[number]

export const MAPPINGS = whenNeeded(SCHEMA_NAMES, readMapping)

/** All schemas. `rollup-files` is only for `"engine": {"rollup_files"}`. */
export const SCHEMAS: Readonly<Record<SchemaName | 'rollup-files', Schema>> = whenNeeded(
  [...SCHEMA_NAMES, 'rollup-files'],
  (name) => (name === 'rollup-files' ? rollupFiles : compile(MAPPINGS[name])),
)

/**
 * Sums from another engine (docs/operations.md), one row per UTC day and model. `prompt_tokens` has all tokens and
 * `completion_tokens` the number of requests; see `count/sums_of_rollup`. Rows without requests are rejected.
 */
const rollupFiles: Schema = {
  reading: 1,
  record: {
    timestamp: utcDay(column('utc_date')),
    model_permaslug: word(column('model_permaslug')),
    prompt_tokens: over('count', column('tokens'), (value) => `sum_from_text(${value.text()})`),
    completion_tokens: over('count', column('requests'), (value) => `nullif(${value.count()}, 0)`),
  },
  exact: ['tokens'],
  hasAbsoluteTime: true,
}

/** Makes each value when it is first read: a build needs few of the schemas, and to make all of them takes 50 ms. */
function whenNeeded<Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name) => Value,
): Readonly<Record<Name, Value>> {
  const made = new Map<Name, Value>()
  const read = (name: Name): Value => {
    const value = made.get(name) ?? make(name)
    made.set(name, value)
    return value
  }
  const values = {} as Record<Name, Value>
  for (const name of names) Object.defineProperty(values, name, { enumerable: true, get: () => read(name) })
  return values
}

function readMapping(name: SchemaName): Mapping {
  const path = new URL(`${name}.json`, import.meta.url)
  return parseJson(Mapping, readFileSync(path, 'utf8'), `${name}.json`, BuildError)
}
