import type { EmbeddingsModel } from '../../server/schemas/embeddings-model.ts'

/** A valid entry of the catalogue with all fields of the specification and no others. */
export function someModel(details: Partial<EmbeddingsModel> = {}): EmbeddingsModel {
  return {
    id: 'acme/embed-1',
    canonical_slug: 'acme/embed-1-20250101',
    name: 'Acme: Embed 1',
    description: 'A text embeddings model.',
    created: 1_735_689_600,
    context_length: 8192,
    architecture: {
      input_modalities: ['text'],
      output_modalities: ['embeddings'],
      modality: 'text->embeddings',
      instruct_type: null,
      tokenizer: 'Other',
    },
    pricing: { prompt: '0.00000002', completion: '0', image: '0', request: '0' },
    top_provider: { context_length: 8192, is_moderated: false, max_completion_tokens: null },
    links: { details: '/api/v1/models/acme/embed-1-20250101/endpoints' },
    supported_parameters: [],
    supported_voices: null,
    default_parameters: null,
    per_request_limits: null,
    expiration_date: null,
    knowledge_cutoff: null,
    ...details,
  }
}

/** `count` entries in the order of the list, each older than the one before it. */
export function someModels(count: number): EmbeddingsModel[] {
  return Array.from({ length: count }, (_, index) =>
    someModel({ id: `acme/embed-${index}`, created: 2_000_000_000 - index }),
  )
}
