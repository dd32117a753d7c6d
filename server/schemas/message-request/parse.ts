import { invalidRequest } from '../../base/errors.ts'
import { requireValid } from '../issues.ts'
import { MessageRequest } from './index.ts'

/** The keys of a request that a preset keeps, under their own names (API.md § POST /presets/{slug}/messages). */
export const CONFIG_KEYS = [
  'model',
  'models',
  'fallbacks',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'service_tier',
  'speed',
  'cache_control',
  'context_management',
  'output_config',
  'thinking',
  'tools',
  'tool_choice',
  'plugins',
  'provider',
  'route',
  'stop_server_tools_when',
] as const satisfies (keyof MessageRequest)[]

/** The stored configuration of a preset version. */
export type PresetConfig = Pick<MessageRequest, (typeof CONFIG_KEYS)[number]>

/** What of a request becomes a preset version. */
export interface ParsedMessageRequest {
  config: PresetConfig
  system_prompt: string | null
}

/**
 * How deep a stored value may nest. `JSON.stringify` is recursive and overflows the stack at some 4,000 levels, the
 * JSON functions of SQLite and the parsers of many clients end at 1,000.
 */
export const MAX_CONFIG_DEPTH = 1000

/**
 * Checks the body of `POST /presets/{slug}/messages` and splits it into what is stored. Throws the `ApiError` 400 that
 * names each field. The values of `config` are those of `body`, not copies: unknown keys, their order and explicit
 * nulls are kept, absent keys stay absent.
 */
export function parseMessageRequest(body: unknown): ParsedMessageRequest {
  requireValid(MessageRequest, body)
  const config = pickConfig(body)
  requireStorable(config)
  return { config, system_prompt: systemPrompt(body.system) }
}

function pickConfig(body: MessageRequest): PresetConfig {
  const stored: ReadonlySet<string> = new Set(CONFIG_KEYS)
  const keys = Object.keys(body).filter((key) => stored.has(key))
  return Object.fromEntries(keys.map((key) => [key, body[key]])) as PresetConfig
}

/** The system text: as it is, or its blocks with a blank line between them (API.md). */
function systemPrompt(system: MessageRequest['system']): string | null {
  if (system === undefined) return null
  return typeof system === 'string' ? system : system.map(({ text }) => text).join('\n\n')
}

/** Refuses what JSON text could not carry back unchanged. */
function requireStorable(config: PresetConfig): void {
  const issues = Object.entries(config).flatMap(([path, value]) => {
    const message = obstacleToStoring(value)
    return message === undefined ? [] : [{ path, message }]
  })
  if (issues.length > 0) throw invalidRequest(issues)
}

/** Looks at `value` level by level, not by recursion: how deep it nests is the client's choice. */
function obstacleToStoring(value: unknown): string | undefined {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_CONFIG_DEPTH) return `must not be nested more than ${MAX_CONFIG_DEPTH} levels deep`
    const next: unknown[] = []
    for (const item of level) {
      // JSON text holds 1e999, JSON.parse reads it as Infinity, and JSON.stringify would write null.
      if (item === Infinity || item === -Infinity) return 'must not hold a number beyond the range of a double'
      if (typeof item !== 'object' || item === null) continue
      for (const child of Array.isArray(item) ? item : Object.values(item))
        if (typeof child !== 'string') next.push(child)
    }
    level = next
  }
  return undefined
}
