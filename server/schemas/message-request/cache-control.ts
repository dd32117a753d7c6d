import { z } from 'zod'

/**
 * Marks a breakpoint of the prompt cache: on a block an explicit one, at the top level one on the last cacheable block
 * (SPECIFICATION.md § Request body shape; the values of `ttl` from the reference, `AnthropicCacheControlTtl`).
 */
export const CacheControl = z.looseObject({
  type: z.literal('ephemeral'),
  ttl: z.enum(['5m', '1h']).optional(),
})
