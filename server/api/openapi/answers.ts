import { withdrawn } from '../../published/gone.ts'
import type { ErrorEnvelope } from '../../schemas/error-envelope.ts'
import { schemaReference } from './components.ts'

const HEADERS = {
  Allow: ['string', 'The methods that the path has.', 'GET, HEAD'],
  'Cache-Control': ['string', 'How long the answer may be kept, and by whom.', 'private, max-age=60'],
  'Content-Disposition': [
    'string',
    'The name of the file. In answers that are not JSON.',
    'attachment; filename="rankings-daily_2026-11-19_2026-11-19.csv"',
  ],
  ETag: [
    'string',
    'Strong tag of the bytes, for If-None-Match.',
    '"20261120T001200Z-0f3a5c7e9b1d2468-2026-11-19-2026-11-19-json-identity"',
  ],
  'Last-Modified': ['string', 'When the dataset was generated.', 'Fri, 20 Nov 2026 00:12:00 GMT'],
  Link: [
    'string',
    'The licence of the data, and the description of the release. With `limit` or `offset` also the next page (`rel="next"`), unless it is the last one.',
    undefined,
  ],
  'RateLimit-Limit': ['integer', 'Requests in a window. Sent where limits are on.', 30],
  'RateLimit-Policy': ['string', 'Every limit, with its window in seconds.', '30;w=60, 500;w=86400'],
  'RateLimit-Remaining': ['integer', 'Requests that are left in the window.', 29],
  'RateLimit-Reset': ['integer', 'Seconds until the window is over.', 60],
  'Retry-After': ['integer', 'Seconds after which to try again.', 17],
  Vary: ['string', 'The headers of the request on which the answer depends.', 'Authorization, Accept, Accept-Encoding'],
  'WWW-Authenticate': ['string', 'The scheme by which to authenticate.', 'Bearer'],
  'X-Attribution': ['string', 'The attribution that the licence of the data asks for.', undefined],
  'X-Content-Hash': [
    'string',
    'The hash of all rows of the table in the release, the same for its files of every format.',
    `sha256:${'0f3a5c7e9b1d2468'.repeat(4)}`,
  ],
  'X-Dataset-Disclosure': [
    'string',
    'The disclosure rule of the release, if it was made under one: how many customers a published number has at least, how closely one of them can estimate another, and how many days after its end a date is published. A model may then be missing although it is large, and `other` may be larger than the first one.',
    'min_contributors=5; p_percent=10; publish_after_days=3',
  ],
  'X-Dataset-End-Date': ['string', 'The last date of the dataset, where that is before `meta.end_date`.', '2026-11-18'],
  'X-Provisional-From': [
    'string',
    'The date from which the rows of the table are provisional in this release: they may still change.',
    '2026-11-17',
  ],
  'X-Total-Count': ['integer', 'How many rows there are in all, with `limit` or `offset`.', 1581],
  'X-Request-Id': ['string', 'Names the request in the log of the server.', '3e0c8b1a-4d0f-4a57-9a3b-0d6f2f1c7e55'],
} satisfies Record<string, [type: 'string' | 'integer', description: string, example: string | number | undefined]>
export type HeaderName = keyof typeof HEADERS

const ON_ALL: HeaderName[] = ['X-Request-Id']
const WITH_LIMITS: HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy']

export function headerComponents() {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, [type, description, example]]) => [
      name,
      { description, schema: { type }, ...(example === undefined ? {} : { example }) },
    ]),
  )
}

export function headerReferences(names: readonly HeaderName[] = []) {
  return references([...ON_ALL, ...WITH_LIMITS, ...names])
}

function references(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

interface ErrorResponse {
  name: string
  description: string
  message: string
  headers?: HeaderName[]
  metadata?: ErrorEnvelope['error']['metadata'] | undefined
  /** Sent to callers without a valid key. */
  isAnonymous?: true
}

const WITHDRAWN = withdrawn('20261120T001200Z')

const WRONG_LIMIT = { path: 'limit', message: 'must be an integer from 1 to 1000' }

const ERRORS = {
  400: {
    name: 'BadRequest',
    description: 'Invalid parameters or malformed input. `error.metadata.issues` names each fault.',
    message: `${WRONG_LIMIT.path} ${WRONG_LIMIT.message}`,
    metadata: { issues: [WRONG_LIMIT] },
  },
  401: {
    name: 'Unauthorized',
    description: 'Authentication is missing, or the key is unknown, revoked or expired.',
    message: 'Missing Authentication header',
    headers: ['WWW-Authenticate'],
    isAnonymous: true,
  },
  403: {
    name: 'Forbidden',
    description: 'The key is valid but is no management key.',
    message: 'Only management keys can perform this operation',
  },
  404: { name: 'NotFound', description: 'The resource does not exist.', message: 'Resource not found' },
  405: {
    name: 'MethodNotAllowed',
    description: 'The path does not have this method.',
    message: 'Method not allowed',
    headers: ['Allow'],
    isAnonymous: true,
  },
  409: {
    name: 'Conflict',
    description: 'Resource conflict or concurrent modification: retry after `Retry-After`.',
    message: 'Resource conflict. Please try again later.',
    headers: ['Retry-After'],
  },
  410: {
    name: 'Gone',
    description: 'The release was withdrawn. `error.metadata.tombstone` is where its tombstone says why.',
    message: WITHDRAWN.message,
    metadata: WITHDRAWN.metadata,
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is larger than 4 MiB.',
    message: 'Request body is too large',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not `application/json`, or is compressed.',
    message: 'The content type must be application/json',
  },
  429: {
    name: 'TooManyRequests',
    description: 'The key or its account made too many requests, or too many older releases (`as_of`) wait to be read.',
    message: 'Rate limit exceeded',
    headers: ['Retry-After', ...WITH_LIMITS],
  },
  500: { name: 'InternalServerError', description: 'An unexpected error.', message: 'Internal Server Error' },
  503: {
    name: 'ServiceUnavailable',
    description: 'No dataset is loaded yet, or what keeps keys and presets does not answer. Retry later.',
    message: 'The dataset is not available yet. Please try again later.',
    headers: ['Retry-After'],
  },
} satisfies Record<number, ErrorResponse>
export type ErrorStatus = keyof typeof ERRORS

/** Errors that any operation may return. */
export const COMMON_ERRORS: ErrorStatus[] = [401, 405, 429, 500, 503]

export function errorReference(status: ErrorStatus): { $ref: string } {
  return { $ref: `#/components/responses/${ERRORS[status].name}` }
}

export function errorComponents() {
  return Object.fromEntries(
    Object.entries<ErrorResponse>(ERRORS).map(([status, { name, description, headers = [], ...error }]) => [
      name,
      {
        description,
        headers: references([...ON_ALL, ...headers]),
        content: {
          'application/json': { schema: schemaReference('ErrorEnvelope'), example: envelope(Number(status), error) },
        },
      },
    ]),
  )
}

function envelope(
  code: number,
  { message, metadata, isAnonymous }: Pick<ErrorResponse, 'message' | 'metadata' | 'isAnonymous'>,
): ErrorEnvelope {
  return {
    error: { code, message, ...(metadata === undefined ? {} : { metadata }) },
    ...(isAnonymous === true ? {} : { user_id: 'user_default' }),
  }
}
