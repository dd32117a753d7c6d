import { z } from 'zod'
import { Architecture, EmbeddingsModel } from './embeddings-model.ts'

/* Request and response of `GET /models/{author}/{slug}/endpoints`, in the shape that SDKs read. */

const NotEmpty = z.string().min(1, { error: 'must not be empty' })

/** The id or the canonical slug of a model, in two parts. */
export const ModelEndpointsPath = z.object({
  author: NotEmpty.meta({ description: 'The part of the name before the slash.', examples: ['qwen'] }),
  slug: NotEmpty.meta({
    description: 'The part of the id or of the canonical slug after the slash.',
    examples: ['qwen3-embedding-8b'],
  }),
})

const { id, name, created, description } = EmbeddingsModel.shape

export const ModelEndpoints = z
  .object({
    id,
    name,
    created,
    description,
    architecture: Architecture,
    endpoints: z
      .array(z.looseObject({}))
      .meta({ description: 'Providers of the model. Always empty: the catalogue does not know them.' }),
  })
  .meta({ description: 'What the catalogue knows of a model.' })

export const ModelEndpointsResponse = z.object({ data: ModelEndpoints })
export type ModelEndpointsResponse = z.infer<typeof ModelEndpointsResponse>
