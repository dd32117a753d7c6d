import type { z } from 'zod'
import { MEDIA_TYPE_OF } from '../../published/negotiation.ts'
import { CHAT_REQUEST_EXAMPLE, RESPONSES_REQUEST_EXAMPLE } from '../../schemas/completion-requests.ts'
import { ModelEndpointsPath } from '../../schemas/embeddings-model.ts'
import { MESSAGE_REQUEST_EXAMPLE } from '../../schemas/message-request.ts'
import { DatasetsQuery } from '../routes/datasets.ts'
import { ListEmbeddingsModelsQuery } from '../routes/embeddings-models.ts'
import { CreateHeaders, PresetPath, PresetsQuery, VersionPath } from '../routes/presets.ts'
import { RankingChangesQuery } from '../routes/ranking-changes.ts'
import { RankingsDailyQuery } from '../routes/rankings-daily.ts'
import type { ErrorStatus, HeaderName } from './answers.ts'
import type { SchemaName } from './components.ts'
import * as examples from './examples.ts'

export const TAGS = {
  'API Keys': 'The key that makes the call.',
  Datasets: 'Public usage data, licensed under CC BY 4.0.',
  Embeddings: 'The catalogue of embeddings models.',
  Presets: 'Stored request configurations, versioned.',
}

/** What the document says about an operation besides its zod schemas. */
export interface Operation {
  operationId: string
  method: 'get' | 'post'
  path: string
  tag: keyof typeof TAGS
  summary: string
  description: string
  /** The schemas that the route validates by; test/server/openapi.test.ts compares them. */
  params?: z.ZodObject
  querystring?: z.ZodObject
  headers?: z.ZodObject
  body?: { schema: SchemaName; description: string; example: object }
  answer: {
    schema: SchemaName
    /** The schema of answers that `schema` does not fit. Clients take the first that fits. */
    otherSchema?: SchemaName
    description: string
    example: object
    headers?: HeaderName[]
    has304?: true
    texts?: Record<string, { description: string; example: string }>
  }
  errors: ErrorStatus[]
}

/** Headers of every answer from the ranking. */
const RANKING_HEADERS: Operation['answer']['headers'] = [
  'ETag',
  'Last-Modified',
  'Cache-Control',
  'Content-Disposition',
  'Vary',
  'Link',
  'X-Attribution',
  'X-Content-Hash',
  'X-Dataset-Disclosure',
]

/** Headers of answers that caches may keep and have to ask about. */
const TAGGED_HEADERS: Operation['answer']['headers'] = ['ETag', 'Cache-Control', 'Vary']

export const OPERATIONS: Operation[] = [
  {
    operationId: 'getCurrentKey',
    method: 'get',
    path: '/key',
    tag: 'API Keys',
    summary: 'Get the current API key',
    description:
      'Information about the API key that authenticates the call. Amounts are USD. Windows are the current UTC day, the UTC week from Monday to Sunday, and the UTC calendar month.',
    answer: {
      schema: 'CurrentKeyResponse',
      description: 'The key and its usage.',
      example: examples.currentKeyResponse,
      headers: ['Cache-Control'],
    },
    errors: [],
  },
  {
    operationId: 'listDatasets',
    method: 'get',
    path: '/datasets',
    tag: 'Datasets',
    summary: 'List datasets',
    description: 'The datasets of this server, each with its current release. There is one.',
    querystring: DatasetsQuery,
    answer: {
      schema: 'ListDatasetsResponse',
      description: 'The datasets.',
      example: examples.listDatasetsResponse,
      headers: TAGGED_HEADERS,
      has304: true,
    },
    errors: [400],
  },
  {
    operationId: 'getRankingsDailyInfo',
    method: 'get',
    path: '/datasets/rankings-daily/info',
    tag: 'Datasets',
    summary: 'What the ranking dataset is',
    description:
      'License, attribution, coverage, tables with their schemas and files, releases and history: all that `manifest.json` of the current release and the list of releases say, in one answer.',
    querystring: DatasetsQuery,
    answer: {
      schema: 'DatasetInfoResponse',
      description: 'The dataset, as of its current release.',
      example: examples.datasetInfoResponse,
      headers: TAGGED_HEADERS,
      has304: true,
    },
    errors: [400],
  },
  {
    operationId: 'getRankingsDaily',
    method: 'get',
    path: '/datasets/rankings-daily',
    tag: 'Datasets',
    summary: 'Daily token totals of the top 50 models',
    description: [
      'For each UTC date of the window up to 51 rows: the top 50 public models by tokens, and one row `other` that sums every model outside of them, where there is one. Rows are sorted by date, then by tokens descending, ties by `model_permaslug`; `other` is the last of its date.',
      'With `period`, rows sum ISO weeks or months, ranked by the sums of all models. The rows can also be had as CSV or NDJSON, by `Accept` or by `format`, and from an older release by `as_of`.',
      '`top`, `model`, `author`, `fields`, `limit` and `offset` select rows and columns and apply in this order. Only where `fields` leaves out `date`, `model_permaslug` or `total_tokens`, the answer is a `RankingSelectionResponse`; else it is a `RankingResponse`.',
      'An unknown parameter is an error here, because it may be meant to change what the numbers count.',
      'The data is licensed under CC BY 4.0: reuse it, also commercially, with the attribution in `X-Attribution`.',
    ].join('\n\n'),
    querystring: RankingsDailyQuery,
    answer: {
      schema: 'RankingResponse',
      otherSchema: 'RankingSelectionResponse',
      description: 'The rows of the window. Dates without rows are absent.',
      example: examples.rankingResponse,
      headers: [...RANKING_HEADERS, 'X-Dataset-End-Date', 'X-Provisional-From', 'X-Total-Count'],
      has304: true,
      texts: {
        [MEDIA_TYPE_OF.csv]: {
          description: 'Canonical CSV with a header: minimal quoting, lines end with LF.',
          example: examples.rankingCsv,
        },
        [MEDIA_TYPE_OF.ndjson]: { description: 'A `RankingRow` a line.', example: examples.rankingNdjson },
      },
    },
    errors: [400, 404, 410],
  },
  {
    operationId: 'getRankingChanges',
    method: 'get',
    path: '/datasets/rankings-daily/changes',
    tag: 'Datasets',
    summary: 'What differs between two releases',
    description: [
      'The changes that turn the rows of the release `from` into those of the release `to`, whichever of them is older: by date, first the rows that came or differ, in published order, then those that went.',
      'Between a release and the one before they are what its files `changes.csv`, `changes-weekly.csv` and `changes-monthly.csv` have.',
    ].join('\n\n'),
    querystring: RankingChangesQuery,
    answer: {
      schema: 'RankingChangesResponse',
      description: 'The changes, and the releases that were compared.',
      example: examples.rankingChangesResponse,
      headers: [...RANKING_HEADERS, 'X-Provisional-From'],
      has304: true,
      texts: {
        [MEDIA_TYPE_OF.csv]: {
          description:
            'CSV with a header and an empty field for what is not there: minimal quoting, lines end with LF.',
          example: examples.rankingChangesCsv,
        },
        [MEDIA_TYPE_OF.ndjson]: { description: 'A `RankingChange` a line.', example: examples.rankingChangesNdjson },
      },
    },
    errors: [400, 404, 410],
  },
  {
    operationId: 'listEmbeddingsModels',
    method: 'get',
    path: '/embeddings/models',
    tag: 'Embeddings',
    summary: 'List embeddings models',
    description:
      'All available embeddings models, the newest first. Without `offset` and `limit` the full list; with `offset` alone, pages of 500.',
    querystring: ListEmbeddingsModelsQuery,
    answer: {
      schema: 'ListEmbeddingsModelsResponse',
      description: 'The models of the page, the link to the next one and the total count.',
      example: examples.listEmbeddingsModelsResponse,
      headers: TAGGED_HEADERS,
      has304: true,
    },
    errors: [400],
  },
  {
    operationId: 'listEndpoints',
    method: 'get',
    path: '/models/{author}/{slug}/endpoints',
    tag: 'Embeddings',
    summary: 'Get an embeddings model',
    description:
      'What the catalogue knows of an embeddings model, by its id or its canonical slug: `links.details` of a model leads here. The list of its endpoints is empty, because the catalogue does not know who serves it.',
    params: ModelEndpointsPath,
    answer: {
      schema: 'ModelEndpointsResponse',
      description: 'The model.',
      example: examples.modelEndpointsResponse,
      headers: TAGGED_HEADERS,
      has304: true,
    },
    errors: [400, 404],
  },
  {
    operationId: 'listPresets',
    method: 'get',
    path: '/presets',
    tag: 'Presets',
    summary: 'List presets',
    description: 'The presets of the workspace without their versions, those updated last first.',
    querystring: PresetsQuery,
    answer: {
      schema: 'ListPresetsResponse',
      description: 'The presets of the page and the total count.',
      example: examples.listPresetsResponse,
    },
    errors: [400],
  },
  {
    operationId: 'getPreset',
    method: 'get',
    path: '/presets/{slug}',
    tag: 'Presets',
    summary: 'Get a preset',
    description: 'A preset with its designated version, which is the newest.',
    params: PresetPath,
    answer: { schema: 'PresetResponse', description: 'The preset.', example: examples.presetResponse },
    errors: [400, 404],
  },
  creation({
    operationId: 'createPresetsChatCompletions',
    path: '/presets/{slug}/chat/completions',
    kind: 'chat completion',
    text: 'The text of the `system` and `developer` messages becomes the `system_prompt`. Only fields that overlap with the preset configuration are stored; other `messages`, `stream`, `metadata` and the like are not.',
    schema: 'ChatRequest',
    example: CHAT_REQUEST_EXAMPLE,
  }),
  creation({
    operationId: 'createPresetsMessages',
    path: '/presets/{slug}/messages',
    kind: 'message-style',
    text: 'Only fields that overlap with the preset configuration are stored; `messages`, `stream`, `prompt` and the like are silently ignored.',
    schema: 'MessageRequest',
    example: MESSAGE_REQUEST_EXAMPLE,
  }),
  creation({
    operationId: 'createPresetsResponses',
    path: '/presets/{slug}/responses',
    kind: 'responses',
    text: '`instructions` becomes the `system_prompt`. Only fields that overlap with the preset configuration are stored; `input`, `prompt`, `stream`, `metadata` and the like are not.',
    schema: 'ResponsesRequest',
    example: RESPONSES_REQUEST_EXAMPLE,
  }),
  {
    operationId: 'listPresetVersions',
    method: 'get',
    path: '/presets/{slug}/versions',
    tag: 'Presets',
    summary: 'List the versions of a preset',
    description: 'All versions of a preset, ascending.',
    params: PresetPath,
    querystring: PresetsQuery,
    answer: {
      schema: 'ListPresetVersionsResponse',
      description: 'The versions of the page and the total count.',
      example: examples.listPresetVersionsResponse,
    },
    errors: [400, 404],
  },
  {
    operationId: 'getPresetVersion',
    method: 'get',
    path: '/presets/{slug}/versions/{version}',
    tag: 'Presets',
    summary: 'Get a version of a preset',
    description: 'One version of a preset, by its number.',
    params: VersionPath,
    answer: {
      schema: 'PresetVersionResponse',
      description: 'The version.',
      example: examples.presetVersionResponse,
    },
    errors: [400, 404],
  },
]

/** An operation that makes a version from a request of some kind. */
function creation({
  operationId,
  path,
  kind,
  text,
  schema,
  example,
}: Pick<Operation, 'operationId' | 'path'> & {
  kind: string
  text: string
  schema: SchemaName
  example: object
}): Operation {
  return {
    operationId,
    method: 'post',
    path,
    tag: 'Presets',
    summary: `Create a preset from a ${kind} request`,
    description: `Creates a preset, or a new version of an existing one, and makes that version the designated one. ${text} Needs a management key.`,
    params: PresetPath,
    headers: CreateHeaders,
    body: { schema, description: `A ${kind} inference request of at most 4 MiB.`, example },
    answer: {
      schema: 'PresetResponse',
      description: 'The preset with its new version.',
      example: examples.presetResponse,
    },
    errors: [400, 403, 404, 409, 413, 415],
  }
}
