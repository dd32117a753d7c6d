import { CANONICAL_CSV_HEADER, canonicalCsvRow } from '../../../pipeline/contract/canonical-csv.ts'
import { CHANGE_COLUMNS } from '../../../pipeline/contract/change-log.ts'
import type { RankingResponse } from '../../../pipeline/contract/ranking.ts'
import type { DatasetInfoResponse, DatasetSummary, ListDatasetsResponse } from '../../schemas/datasets.ts'
import type {
  EmbeddingsModel,
  ListEmbeddingsModelsResponse,
  ModelEndpointsResponse,
} from '../../schemas/embeddings-model.ts'
import type { Budget, CurrentKeyResponse } from '../../schemas/key.ts'
import type {
  ListPresetsResponse,
  ListPresetVersionsResponse,
  PresetResponse,
  PresetVersionResponse,
} from '../../schemas/preset.ts'
import type { RankingChangesResponse } from '../../schemas/rankings.ts'

/* One consistent story for all operations. Values marked as seen are from the specification. */

const preset = {
  id: '0b0f2d5e-58f7-4a7c-9f5b-6c1f0f2f9b11',
  slug: 'support-agent',
  name: 'support-agent',
  description: null,
  status: 'active' as const,
  status_updated_at: null,
  workspace_id: '00000000-0000-4000-8000-000000000000',
  creator_user_id: 'user_default',
  designated_version_id: '7d9c3f80-0c0e-4f51-8f0e-0f3a5f6b2c4d',
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
}

const version = {
  id: preset.designated_version_id,
  preset_id: preset.id,
  version: 1,
  config: { model: 'anthropic/claude-sonnet-4.5', max_tokens: 1024, temperature: 0.2 },
  system_prompt: 'You answer in one sentence.',
  creator_id: preset.creator_user_id,
  created_at: preset.created_at,
  updated_at: preset.created_at,
}

export const presetResponse: PresetResponse = { data: { ...preset, designated_version: version } }

export const presetVersionResponse: PresetVersionResponse = { data: version }

export const listPresetsResponse: ListPresetsResponse = { data: [preset], total_count: 1 }

export const listPresetVersionsResponse: ListPresetVersionsResponse = { data: [version], total_count: 1 }

const budget: Budget = {
  scope: 'key_limit',
  budget_id: null,
  guardrail_id: null,
  limit_usd: 100,
  spend_usd: 25.5,
  remaining_usd: 74.5,
  reset_interval: 'monthly',
  resets_at: '2026-12-01T00:00:00.000Z',
  include_byok: false,
}

export const currentKeyResponse: CurrentKeyResponse = {
  data: {
    label: 'sk-tb-v1-0a1...e9f',
    creator_user_id: 'user_default',
    expires_at: '2027-01-01T00:00:00.000Z',
    limit: 100,
    limit_remaining: 74.5,
    limit_reset: 'monthly',
    include_byok_in_limit: false,
    is_free_tier: false,
    is_management_key: false,
    is_provisioning_key: false,
    usage: 310.25,
    usage_daily: 1.5,
    usage_weekly: 9.75,
    usage_monthly: 25.5,
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    rate_limit: { requests: -1, interval: '10s', note: 'This field is deprecated and safe to ignore.' },
    workspace_id: preset.workspace_id,
    organization_id: null,
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: -1, remaining: -1, used: 42 },
    budgets: [budget],
    effective_budget: budget,
  },
}

const embeddingsModel: EmbeddingsModel = {
  id: 'qwen/qwen3-embedding-8b',
  canonical_slug: 'qwen/qwen3-embedding-8b',
  name: 'Qwen: Qwen3 Embedding 8B',
  description: 'The largest text embeddings model of the Qwen3 family.',
  created: 1761662922,
  context_length: 32_000,
  architecture: {
    input_modalities: ['text'],
    output_modalities: ['embeddings'],
    modality: 'text->embeddings',
    instruct_type: null,
    tokenizer: 'Qwen3',
  },
  pricing: { prompt: '0.00000001', completion: '0', image: '0', request: '0' },
  top_provider: { context_length: 32_000, is_moderated: false, max_completion_tokens: null },
  links: { details: '/api/v1/models/qwen/qwen3-embedding-8b/endpoints' },
  supported_parameters: [],
  supported_voices: null,
  default_parameters: null,
  per_request_limits: null,
  expiration_date: null,
  knowledge_cutoff: null,
}

export const listEmbeddingsModelsResponse: ListEmbeddingsModelsResponse = {
  data: [embeddingsModel],
  links: { next: '/api/v1/embeddings/models?offset=1&limit=1' },
  total_count: 26,
}

const { id, name, created, description, architecture } = embeddingsModel

export const modelEndpointsResponse: ModelEndpointsResponse = {
  data: { id, name, created, description, architecture, endpoints: [] },
}

export const rankingResponse: RankingResponse = {
  data: [
    { date: '2026-11-19', model_permaslug: 'anthropic/claude-sonnet-4.5', total_tokens: '612400987654' },
    { date: '2026-11-19', model_permaslug: 'openai/gpt-5-mini', total_tokens: '98765432101' },
    { date: '2026-11-19', model_permaslug: 'other', total_tokens: '701234567890' },
  ],
  meta: { as_of: '2026-11-20T00:12:00Z', start_date: '2026-11-19', end_date: '2026-11-19', version: 'v1' },
}

export const rankingCsv = CANONICAL_CSV_HEADER + rankingResponse.data.map(canonicalCsvRow).join('')

export const rankingNdjson = rankingResponse.data.map((row) => `${JSON.stringify(row)}\n`).join('')

export const rankingChangesResponse: RankingChangesResponse = {
  data: [
    {
      op: 'update',
      date: '2026-11-18',
      model_permaslug: 'openai/gpt-5-mini',
      tokens_before: '98765432101',
      tokens_after: '98765439876',
    },
    {
      op: 'insert',
      date: '2026-11-19',
      model_permaslug: 'other',
      tokens_before: null,
      tokens_after: '701234567890',
    },
  ],
  meta: {
    from: {
      release: '20261119T001200Z',
      as_of: '2026-11-19T00:12:00Z',
      start_date: '2025-01-01',
      end_date: '2026-11-18',
      content_hash: `sha256:${'5b1e8d3a7c2f9046'.repeat(4)}`,
    },
    to: {
      release: '20261120T001200Z',
      as_of: '2026-11-20T00:12:00Z',
      start_date: '2025-01-01',
      end_date: '2026-11-19',
      content_hash: `sha256:${'0f3a5c7e9b1d2468'.repeat(4)}`,
    },
    period: 'day',
    version: 'v1',
  },
}

export const rankingChangesCsv = `${CHANGE_COLUMNS.daily.join(',')}
update,2026-11-18,openai/gpt-5-mini,98765432101,98765439876
insert,2026-11-19,other,,701234567890
`

export const rankingChangesNdjson = rankingChangesResponse.data.map((row) => `${JSON.stringify(row)}\n`).join('')

const dataset: DatasetSummary = {
  name: 'rankings-daily',
  version: 'v1',
  title: 'Tokens per model',
  description: 'Tokens per model and UTC day of a gateway.',
  synthetic: false,
  release: '20261120T001200Z',
  as_of: '2026-11-20T00:12:00Z',
  start_date: '2025-01-01',
  end_date: '2026-11-19',
  license: {
    name: 'CC-BY-4.0',
    title: 'Creative Commons Attribution 4.0 International',
    url: 'https://creativecommons.org/licenses/by/4.0/',
  },
  links: { info: '/api/v1/datasets/rankings-daily/info', rows: '/api/v1/datasets/rankings-daily' },
}

export const listDatasetsResponse: ListDatasetsResponse = { data: [dataset], total_count: 1 }

const FOLDER = '/datasets/rankings-daily/v1'
const RELEASE_FOLDER = `${FOLDER}/releases/20261120T001200Z`
const DOI = '10.5281/zenodo.1234568'
const DOI_URL = `https://doi.org/${DOI}`

export const datasetInfoResponse: DatasetInfoResponse = {
  data: {
    ...dataset,
    data_version: '1.42.0',
    content_hash: `sha256:${'0f3a5c7e9b1d2468'.repeat(4)}`,
    provisional_from: '2026-11-17',
    publisher: { name: 'Example', url: 'https://data.example.com/', contact: 'data@example.com' },
    attribution: 'Source: Example (https://data.example.com/), as of 2026-11-20T00:12:00Z.',
    citation: {
      text: `Example (2026). Tokens per model, release 20261120T001200Z, data version 1.42.0 [Data set]. ${DOI_URL}`,
      url: DOI_URL,
      bibtex_url: `${RELEASE_FOLDER}/citation.bib`,
      cff_url: `${RELEASE_FOLDER}/CITATION.cff`,
      doi: DOI,
      concept_doi: '10.5281/zenodo.1234567',
    },
    coverage: {
      start_date: '2025-01-01',
      end_date: '2026-11-19',
      days: 687,
      missing: ['2025-12-25'],
      url: `${FOLDER}/coverage.json`,
    },
    disclosure: null,
    releases: { current: '20261120T001200Z', count: 317, url: `${FOLDER}/releases/index.json` },
    tables: [
      {
        name: 'daily',
        period: 'day',
        start_date: '2025-01-01',
        end_date: '2026-11-19',
        rows: 35_037,
        content_hash: `sha256:${'0f3a5c7e9b1d2468'.repeat(4)}`,
        provisional_from: '2026-11-17',
        schema: { type: 'object', required: ['date', 'model_permaslug', 'total_tokens'] },
        rows_url: '/api/v1/datasets/rankings-daily',
        files: [
          {
            format: 'parquet',
            url: `${FOLDER}/releases/20261120T001200Z/rankings-daily.parquet`,
            media_type: 'application/vnd.apache.parquet',
            bytes: 212_345,
            sha256: '5b1e8d3a7c2f9046'.repeat(4),
          },
        ],
      },
    ],
    history: { parquet_url: `${FOLDER}/history.parquet`, csv_url: `${FOLDER}/history.csv.gz` },
  },
}
