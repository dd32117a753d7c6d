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
  ],
  request_id: ['requestid', 'reqid', 'generationid', 'completionid', 'callid', 'uuid', 'id'],
  api_key_hash: ['apikeyhash', 'keyhash'],
  cost_usd: ['costusd', 'usdcost', 'cost', 'totalcost', 'spend'],
  is_byok: ['isbyok', 'byok'],
}

/** `columns` that map names to canonical ones; undefined if a needed column is missing. */
export function renamesToCanonical(
  names: readonly string[],
): { columns: Record<string, string>; hasModel: boolean } | undefined {
  const found = new Map<string, string>()
  for (const [column, synonyms] of Object.entries(SYNONYMS)) {
    const name = names.includes(column) ? column : synonym(synonyms, names)
    if (name !== undefined) found.set(column, name)
  }
  const hasModel = found.has('model_permaslug')
  const needed = neededColumns(SCHEMAS.canonical, !hasModel).flat()
  if (!needed.every((column) => found.has(column))) return undefined
  return { columns: Object.fromEntries([...found].filter(([column, name]) => column !== name)), hasModel }
}

function synonym(synonyms: readonly string[], names: readonly string[]): string | undefined {
  const plain = names.map((name) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''))
  const positions = synonyms.map((each) => plain.indexOf(each))
  return names[positions.find((position) => position >= 0) ?? -1]
}
