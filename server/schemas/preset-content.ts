import type { z } from 'zod'
import { invalidRequest } from '../base/errors.ts'
import { requireValid } from './combinators.ts'

/** The parts of a request that become a preset version. */
export interface PresetContent<Config = Record<string, unknown>> {
  config: Config
  system_prompt: string | null
}

/** The maximum nesting of a stored value: SQLite's JSON functions and many clients' parsers stop at 1,000 levels. */
export const MAX_CONFIG_DEPTH = 1000

/**
 * Validates the body of a request and returns what is stored. Throws the `ApiError` 400 that names each field. Values are
 * those of `body`: unknown keys of objects, key order and explicit nulls are kept.
 */
export function presetContent<Request extends object, Key extends keyof Request & string>(
  body: unknown,
  { schema, stored, systemTexts }: RequestShape<Request, Key>,
): PresetContent<Pick<Request, Key>> {
  const validSchema: z.ZodType<Request> = schema
  requireValid(validSchema, body)
  const config = pick(body, stored)
  requireStorable(config)
  // Blocks and messages are joined with blank lines.
  return { config, system_prompt: systemTexts(body)?.join('\n\n') ?? null }
}

/** How a preset is made from a request of one shape. */
export interface RequestShape<Request extends object, Key extends keyof Request & string> {
  schema: z.ZodType<Request>
  /** The keys that a preset stores. */
  stored: readonly Key[]
  systemTexts(body: Request): string[] | undefined
}

/** The texts of a content, which is one text or a list of blocks. */
export function textsOf(content: string | { text: string }[]): string[] {
  return typeof content === 'string' ? [content] : content.map(({ text }) => text)
}

function pick<Request extends object, Key extends keyof Request & string>(
  body: Request,
  stored: readonly Key[],
): Pick<Request, Key> {
  const names: ReadonlySet<string> = new Set(stored)
  const keys = Object.keys(body).filter((key): key is Key => names.has(key))
  return Object.fromEntries(keys.map((key) => [key, body[key]])) as Pick<Request, Key>
}

function requireStorable(config: object): void {
  const issues = Object.entries(config).flatMap(([path, value]) => {
    const message = obstacleToStoring(value)
    return message === undefined ? [] : [{ path, message }]
  })
  if (issues.length > 0) throw invalidRequest(issues)
}

/** Not recursive: the client chooses how deep a value nests. */
function obstacleToStoring(value: unknown): string | undefined {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_CONFIG_DEPTH) return `must not be nested more than ${MAX_CONFIG_DEPTH} levels deep`
    const next: unknown[] = []
    for (const item of level) {
      // JSON.parse reads 1e999 as Infinity, which JSON.stringify would write as null.
      if (item === Infinity || item === -Infinity) return 'must not hold a number beyond the range of a double'
      if (typeof item !== 'object' || item === null) continue
      for (const child of Array.isArray(item) ? item : Object.values(item))
        if (typeof child !== 'string') next.push(child)
    }
    level = next
  }
  return undefined
}
