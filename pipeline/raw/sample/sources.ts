import { DEFAULT_RULE } from '../../contract/disclosure.ts'
import { UtcDate } from '../../contract/utc-date.ts'
import type { Model } from './models.ts'
import type { Request } from './traffic.ts'

const MILLISECONDS_PER_HOUR = 3_600_000

export interface SampleSource {
  name: Request['source']
  fileEnding: string
  entry: { name: string; schema: 'canonical'; files: string[]; columns?: Record<string, string>; timezone?: string }
  encode(requests: readonly Request[]): string
}

/** CSV with its own column names and local times without an offset. */
const gateway: SampleSource = {
  name: 'gateway',
  fileEnding: '.csv.gz',
  entry: {
    name: 'gateway',
    schema: 'canonical',
    files: ['gateway/*.csv.gz'],
    columns: {
      timestamp: 'ts',
      model_permaslug: 'model',
      prompt_tokens: 'tokens_in',
      completion_tokens: 'tokens_out',
      api_key_hash: 'key_sha256',
      contributor: 'customer',
    },
    timezone: 'Asia/Singapore',
  },
  encode(requests) {
    const columns = Object.entries(GATEWAY_COLUMNS)
    const lines = requests.map((request) => columns.map(([, read]) => read(request)))
    return [columns.map(([name]) => name), ...lines].map((line) => `${line.join(',')}\n`).join('')
  },
}

const GATEWAY_COLUMNS: Readonly<Record<string, (request: Request) => string | number | boolean>> = {
  ts: ({ instant }) => localTime(instant, { hoursAhead: 8, suffix: '' }).replace('T', ' '),
  request_id: ({ id }) => id,
  key_sha256: ({ apiKeyHash }) => apiKeyHash,
  customer: ({ customer }) => customer,
  model: ({ slug }) => slug,
  status: ({ status }) => status,
  tokens_in: ({ promptTokens }) => promptTokens,
  tokens_out: ({ completionTokens }) => completionTokens,
  cost_usd: ({ costUsd }) => costUsd.toFixed(6),
  is_byok: ({ isByok }) => isByok,
  visibility: ({ isPrivate }) => (isPrivate ? 'private' : ''),
}

/** NDJSON with canonical names, times with an offset and some aliases. */
const edge: SampleSource = {
  name: 'edge',
  fileEnding: '.ndjson.gz',
  entry: { name: 'edge', schema: 'canonical', files: ['edge/*.ndjson.gz'] },
  encode(requests) {
    const lines = requests.map((request) =>
      JSON.stringify({
        timestamp: localTime(request.instant, { hoursAhead: -5, suffix: '-05:00' }),
        request_id: request.id,
        model_permaslug: request.upstreamName,
        prompt_tokens: request.promptTokens,
        completion_tokens: request.completionTokens,
        status: request.status,
        api_key_hash: request.apiKeyHash,
        contributor: request.customer,
        cost_usd: Number(request.costUsd.toFixed(6)),
        is_byok: request.isByok,
        ...(request.isPrivate && { visibility: 'private' }),
      }),
    )
    return lines.map((line) => `${line}\n`).join('')
  },
}

export const SAMPLE_SOURCES: readonly SampleSource[] = [gateway, edge]

export function isSampleFile(source: string, file: string): boolean {
  const found = SAMPLE_SOURCES.find(({ name }) => name === source)
  if (found === undefined || !file.startsWith(`${source}/`) || !file.endsWith(found.fileEnding)) return false
  return UtcDate.safeParse(file.slice(source.length + 1, -found.fileEnding.length)).success
}

export function sourcesFile(): string {
  const sources = SAMPLE_SOURCES.map(({ entry }) => entry)
  const disclosure = { ...DEFAULT_RULE, publish_after_days: 3 }
  return toJson({ models: 'models.json', max_rejected_share: 0.01, disclosure, sources })
}

/** The content of `models.json`. `:free` variants are not listed: they follow their base. */
export function modelsFile(models: readonly Model[]): string {
  const known = models.filter((model) => model.family.visibility !== 'unregistered' && !model.isFree)
  const entries = known.map((model) => ({
    model_permaslug: model.slug,
    aliases: model.upstreamName === model.slug ? [] : [model.upstreamName],
    public: model.family.visibility === 'public',
    name: model.name,
    author: model.family.author,
  }))
  return toJson(entries.sort((a, b) => (a.model_permaslug < b.model_permaslug ? -1 : 1)))
}

/** `2026-11-19T08:12:33.412` on a clock `hoursAhead` of UTC; `unknown` for NaN. */
function localTime(instant: number, { hoursAhead, suffix }: { hoursAhead: number; suffix: string }): string {
  if (Number.isNaN(instant)) return 'unknown'
  return new Date(instant + hoursAhead * MILLISECONDS_PER_HOUR).toISOString().slice(0, 23) + suffix
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
