import { z } from 'zod'

/** `AS_OF` of the build and the server: a UTC instant, cut to whole seconds. */
export const AsOf = z.iso
  .datetime({ error: 'must be an ISO 8601 instant in UTC, such as 2026-11-20T00:12:00Z' })
  .transform((text) => new Date(Math.floor(Date.parse(text) / 1000) * 1000))
