import { z } from 'zod'

/* Models of `GET /embeddings/models` (docs/specification.md). Additional keys are always allowed. */

const NotEmpty = z.string().min(1, { error: 'must not be empty' })

/** Text, because floating point does not keep prices such as 0.000000005. */
const Price = z.string().regex(/^\d+(\.\d+)?$/, { error: 'must be a decimal number as text, such as "0.00000002"' })

const TokenCount = z.int().min(0, { error: 'must be at least 0' })

/** Larger values are milliseconds by mistake. */
const LATEST_UNIX_SECONDS = 99_999_999_999

const UnixSeconds = z
  .int()
  .min(0, { error: 'must be at least 0' })
  .max(LATEST_UNIX_SECONDS, { error: 'must be a Unix time in seconds, not in milliseconds' })
  .meta({ description: 'Unix time in seconds.', examples: [1761857455] })

const Path = z.string().regex(/^\/(?!\/)\S*$/, { error: 'must be a path that begins with one /' })

export const Architecture = z.looseObject({
  input_modalities: z.array(z.string()).meta({ examples: [['text', 'image']] }),
  output_modalities: z.array(z.string()).meta({ examples: [['embeddings']] }),
  modality: z.string().meta({ examples: ['text->embeddings'] }),
  instruct_type: z.string().nullable(),
  tokenizer: z.string().meta({ examples: ['Qwen3'] }),
})

const Pricing = z
  .looseObject({ prompt: Price, completion: Price, image: Price, request: Price })
  .meta({ description: 'USD for each token, image or request, as decimal text.' })

const TopProvider = z.looseObject({
  context_length: TokenCount,
  is_moderated: z.boolean(),
  max_completion_tokens: TokenCount.nullable(),
})

const Setting = z.number().nullish()

const DefaultParameters = z.looseObject({
  temperature: Setting,
  top_p: Setting,
  top_k: z.int().nullish(),
  frequency_penalty: Setting,
  presence_penalty: Setting,
  repetition_penalty: Setting,
})

const PerRequestLimits = z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number() })

export const EmbeddingsModel = z
  .looseObject({
    id: NotEmpty.meta({ description: 'The name in requests.', examples: ['openai/text-embedding-3-small'] }),
    canonical_slug: NotEmpty.meta({ description: 'The permanent slug: the id without a variant, often dated.' }),
    name: NotEmpty,
    description: z.string(),
    created: UnixSeconds,
    context_length: TokenCount.meta({ description: 'The most tokens of an input.' }),
    architecture: Architecture,
    pricing: Pricing,
    top_provider: TopProvider,
    links: z.looseObject({ details: Path.meta({ description: "The path to the model's endpoints." }) }),
    supported_parameters: z.array(z.string()),
    supported_voices: z.array(z.string()).nullable(),
    default_parameters: DefaultParameters.nullable(),
    per_request_limits: PerRequestLimits.nullable(),
    expiration_date: z.string().nullable(),
    knowledge_cutoff: z.string().nullable(),
  })
  .meta({ id: 'EmbeddingsModel', description: 'An embeddings model of the catalogue.' })
export type EmbeddingsModel = z.infer<typeof EmbeddingsModel>

/** The response of `GET /embeddings/models`. */
export const ListEmbeddingsModelsResponse = z
  .strictObject({
    data: z.array(EmbeddingsModel),
    links: z.strictObject({
      next: z
        .string()
        .nullable()
        .meta({
          description: 'Path and query of the next page; null on the last one.',
          examples: ['/api/v1/embeddings/models?offset=500&limit=500'],
        }),
    }),
    total_count: z.int().min(0).meta({ description: 'How many there are in all, on this page or not.' }),
  })
  .meta({ id: 'ListEmbeddingsModelsResponse' })
export type ListEmbeddingsModelsResponse = z.infer<typeof ListEmbeddingsModelsResponse>

/** The path of `GET /models/{author}/{slug}/endpoints`: the id or the canonical slug of a model, in two parts. */
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
