import { z } from 'zod'
import { typed } from '../combinators.ts'

const PLACE = {
  city: z.string().nullable().optional(),
  country: z.string().nullable().optional(),
  region: z.string().nullable().optional(),
  timezone: z.string().nullable().optional(),
}

/** The user's location for searches (reference, `AnthropicWebSearchToolUserLocation` and the `web` plugin). */
export const UserLocation = typed('approximate', { ...PLACE })

/** The same for server tools, with optional `type` (reference, `WebSearchUserLocationServerTool`). */
export const ServerToolUserLocation = z.looseObject({ type: z.literal('approximate').optional(), ...PLACE })
