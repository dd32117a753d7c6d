import { z } from 'zod'
import { typed } from '../combinators.ts'

/**
 * A prompt cache breakpoint: on a block, or at the top level for the last cacheable block. Values of
 * `ttl` are those of the public API (`AnthropicCacheControlTtl`).
 */
export const CacheControl = typed('ephemeral', {
  ttl: z.enum(['5m', '1h']).optional(),
})
