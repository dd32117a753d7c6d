import { z } from 'zod'
import { typed } from '../combinators.ts'

/**
 * A prompt cache breakpoint: on a block, or at the top level for the last cacheable block (SPECIFICATION.md § Request
 * body shape; values of `ttl` from the reference, `AnthropicCacheControlTtl`).
 */
export const CacheControl = typed('ephemeral', {
  ttl: z.enum(['5m', '1h']).optional(),
})
