import { SCHEMAS } from './index.ts'
import { neededColumns } from './schema.ts'

/** Common names of canonical columns, the likeliest first, in lower case without separators. */
const SYNONYMS: Record<string, readonly string[]> = {
  timestamp: [
    'timestamp',
    'ts',
    'time',
    'datetime',
    'createdat',
    'created',
    'requestedat',
    'requesttime',
    'requesttimestamp',
    'starttime',
    'startedat',
    'eventtime',
    'loggedat',
    'windowstart',
    'date',
    'day',
  ],
  model_permaslug: [
    'modelpermaslug',
    'permaslug',
    'modelslug',
    'model',
    'modelname',
    'modelid',
    'providedmodelname',
    'aimodel',
    'responsemodel',
    'requestmodel',
    'slug',
    'engine',
  ],
  prompt_tokens: [
    'prompttokens',
    'inputtokens',
    'tokensprompt',
    'tokensinput',
    'tokensin',
    'prompttokencount',
    'inputtokencount',
    'numprompttokens',
    'numinputtokens',
    'contexttokens',
    'requesttokens',
    'inputlength',
    'promptlength',
    'input',
  ],
  completion_tokens: [
    'completiontokens',
    'outputtokens',
    'tokenscompletion',
    'tokensoutput',
    'tokensout',
    'completiontokencount',
    'outputtokencount',
    'numcompletiontokens',
    'numoutputtokens',
    'generatedtokens',
    'responsetokens',
    'outputlength',
    'completionlength',
    'output',
  ],
  request_id: ['requestid', 'reqid', 'generationid', 'completionid', 'callid', 'uuid', 'id'],
  api_key_hash: ['apikeyhash', 'keyhash'],
  cost_usd: ['costusd', 'usdcost', 'cost', 'totalcost', 'spend'],
  is_byok: ['isbyok', 'byok'],
}

/** Columns that are also looked for inside of objects, such as `usage.input_tokens`. */
const NESTED = ['model_permaslug', 'prompt_tokens', 'completion_tokens']

/**
 * `columns` that map names to canonical ones; undefined if a needed column is missing. `inner` are paths of two keys or
 * more, for what no name has.
 */
export function renamesToCanonical(
  names: readonly string[],
  inner: readonly string[],
): { columns: Record<string, string | string[]>; hasModel: boolean } | undefined {
  const found = canonicalNames(names, inner)
  const hasModel = found.has('model_permaslug')
  const needed = neededColumns(SCHEMAS.canonical, !hasModel).flat()
  if (!needed.every((column) => found.has(column))) return undefined
  const columns = Object.fromEntries([...found].filter(([column, name]) => column !== name))
  return { columns: { ...columns, ...withCache(found.get('prompt_tokens') ?? '', [...names, ...inner]) }, hasModel }
}

/** Anthropic's `input_tokens` are without cached input, which has counts of its own beside it. */
function withCache(input: string, paths: readonly string[]): Record<string, string[]> {
  if (!/^(.*\.)?input_tokens$/.test(input)) return {}
  const cached = CACHED.map((name) => input.replace(/input_tokens$/, name)).filter((path) => paths.includes(path))
  return cached.length === 0 ? {} : { prompt_tokens: [input, ...cached.map((path) => `+${path}`)] }
}

const CACHED = ['cache_read_input_tokens', 'cache_creation_input_tokens']

/** The columns that your own logs need, each with the name that is likely to be it, or with `…`. */
export function columnsToSay(names: readonly string[], inner: readonly string[]): Record<string, string> {
  const found = canonicalNames(names, inner)
  const needed = neededColumns(SCHEMAS.canonical, false).flat()
  return Object.fromEntries(needed.map((column) => [column, found.get(column) ?? '…']))
}

function canonicalNames(names: readonly string[], inner: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const [column, synonyms] of Object.entries(SYNONYMS)) {
    const name = names.includes(column) ? column : synonym(synonyms, names, plainForm)
    const path = name === undefined && NESTED.includes(column) ? synonym(synonyms, inner, lastKeys) : undefined
    if (name !== undefined || path !== undefined) found.set(column, name ?? path ?? '')
  }
  return found
}

function synonym(
  synonyms: readonly string[],
  names: readonly string[],
  formsOf: (name: string) => string[],
): string | undefined {
  const forms = names.map(formsOf)
  const positions = synonyms.map((each) => forms.findIndex((some) => some.includes(each)))
  return names[positions.find((position) => position >= 0) ?? -1]
}

/** A name without case and separators. */
function plainForm(name: string): string[] {
  return [name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')]
}

/** The last key of a path, and its last two. */
function lastKeys(path: string): string[] {
  const keys = path.split('.')
  return [keys.slice(-1), keys.slice(-2)].flatMap((some) => plainForm(some.join('')))
}
