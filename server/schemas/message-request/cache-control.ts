import { z } from 'zod'

/**
 * A prompt cache breakpoint: on a block, or at the top level for the last cacheable block (SPECIFICATION.md § Request
 * body shape; values of `ttl` from the reference, `AnthropicCacheControlTtl`).
 */
export const CacheControl = z.looseObject({
  type: z.literal('ephemeral'),
  ttl: z.enum(['5m', '1h']).optional(),
})
