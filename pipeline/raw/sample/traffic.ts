import { hash } from 'node:crypto'
import { DATASET_START, daysBetween, toInstant, type UtcDate } from '../../contract/utc-date.ts'
import { type Model, modelsBetween, popularity } from './models.ts'
import { logNormal, type Random, seededRandom, weightedDraw } from './random.ts'

const MILLISECONDS_PER_HOUR = 3_600_000

/** Days between a record's own day and its delivery. */
export const DELAYS: readonly number[] = [0, 1, 2, 3]

/** Shares of all records: on the edge, opted out, delivered twice, bad. */
const SHARES = { edge: 0.2, optedOut: 0.005, duplicateAtOnce: 0.01, duplicateLater: 0.005, bad: 1 / 5000 }

const drawDelay = weightedDraw(DELAYS, (delay) => [0.97, 0.02, 0.007, 0.003][delay] ?? 0)

const drawStatus = weightedDraw(['ok', 'cancelled', 'error'] as const, (_, index) => [0.96, 0.025, 0.015][index] ?? 0)

const drawHour = weightedDraw(
  Array.from({ length: 24 }, (_, hour) => hour),
  (hour) => 1 + 0.5 * Math.cos((2 * Math.PI * (hour - 15)) / 24),
)

/** Use by day of the week, Sunday first; the mean is 1. */
const WEEKDAYS = [0.73, 1.08, 1.13, 1.14, 1.12, 1.05, 0.75]

const TOKENS = {
  chat: { prompt: 1400, completion: 320 },
  code: { prompt: 4200, completion: 450 },
  reasoning: { prompt: 1900, completion: 1300 },
  vision: { prompt: 2300, completion: 260 },
  embedding: { prompt: 420, completion: 0 },
}

const YEARLY_GROWTH = 1.3

/** USD per million tokens. */
const PRICES = {
  small: { prompt: 0.12, completion: 0.48 },
  medium: { prompt: 0.7, completion: 2.8 },
  large: { prompt: 3, completion: 15 },
}

const CUSTOMERS = 27
const KEY_COUNT = 40

/** Fictional API keys. Some use their own provider key (BYOK) for most requests. */
const KEYS = Array.from({ length: KEY_COUNT }, (_, index) => ({
  hash: hash('sha256', `sk-tb-v1-sample-${index}`),
  customer: `customer-${String(customerOf(index) + 1).padStart(2, '0')}`,
  byokShare: index % 8 === 5 ? 0.7 : 0,
}))

/** Every customer has a key, and few have most of the further ones. */
function customerOf(key: number): number {
  if (key < CUSTOMERS) return key
  return Math.floor(CUSTOMERS ** ((key - CUSTOMERS) / (KEY_COUNT - CUSTOMERS))) - 1
}

const drawKey = weightedDraw(KEYS, (_, index) => 1 / (index + 1))

export interface Request {
  id: string
  /** Milliseconds since 1970; NaN in a bad record. */
  instant: number
  slug: string
  upstreamName: string
  promptTokens: number
  completionTokens: number
  status: 'ok' | 'cancelled' | 'error'
  isPrivate: boolean
  apiKeyHash: string
  customer: string
  costUsd: number
  isByok: boolean
  source: 'gateway' | 'edge'
  /** The delay of each delivery in days: two for a duplicate. */
  delays: number[]
}

/** The requests of one UTC day, by time. Equal arguments give equal requests. */
export function requestsOf(day: UtcDate, options: { seed: number; requestsPerDay: number }): Request[] {
  const random = seededRandom('traffic', options.seed, day)
  const drawModel = weightedDraw(modelsBetween(day, day), (model) => popularity(model, day) * logNormal(random, 0.12))
  const midnight = toInstant(day).getTime()
  const length = YEARLY_GROWTH ** (daysBetween(DATASET_START, day) / 365)
  const count = Math.round(options.requestsPerDay * rhythm(day) * logNormal(random, 0.02))
  const instants = Array.from({ length: count }, () => {
    return midnight + Math.floor((drawHour(random) + random()) * MILLISECONDS_PER_HOUR)
  }).sort((a, b) => a - b)
  return instants.map((instant, index) => {
    const request = drawRequest(random, { id: requestId(day, index), instant, model: drawModel(random), length })
    return random() < SHARES.bad ? spoiled(request, random) : request
  })
}

function rhythm(day: UtcDate): number {
  const midnight = toInstant(day)
  const season = 1 + 0.12 * Math.cos((2 * Math.PI * (daysBetween(DATASET_START, day) + 15)) / 365.25)
  return season * (WEEKDAYS[midnight.getUTCDay()] as number)
}

function drawRequest(
  random: Random,
  { id, instant, model, length }: { id: string; instant: number; model: Model; length: number },
): Request {
  const median = TOKENS[model.family.kind]
  const price = PRICES[model.family.size]
  const key = drawKey(random)
  const status = drawStatus(random)
  const answered = { ok: 1, cancelled: random(), error: 0 }[status]
  const promptTokens = Math.ceil(length * median.prompt * logNormal(random, 1.2))
  const completionTokens = Math.round(length * median.completion * logNormal(random, 0.9) * answered)
  const cost = (promptTokens * price.prompt + completionTokens * price.completion) / 1e6
  return {
    id,
    instant,
    slug: model.slug,
    upstreamName: model.upstreamName,
    promptTokens,
    completionTokens,
    status,
    isPrivate: random() < SHARES.optedOut,
    apiKeyHash: key.hash,
    customer: key.customer,
    costUsd: model.isFree ? 0 : cost,
    isByok: random() < key.byokShare,
    source: random() < SHARES.edge ? 'edge' : 'gateway',
    delays: drawDelays(random),
  }
}

function drawDelays(random: Random): number[] {
  const delay = drawDelay(random)
  const chance = random()
  if (chance < SHARES.duplicateAtOnce) return [delay, delay]
  if (chance < SHARES.duplicateAtOnce + SHARES.duplicateLater) return [delay, Math.min(delay + 1, DELAYS.length - 1)]
  return [delay]
}

function spoiled(request: Request, random: Random): Request {
  const chance = random()
  if (chance < 1 / 3) return { ...request, instant: Number.NaN }
  if (chance < 2 / 3) return { ...request, promptTokens: -request.promptTokens }
  return { ...request, slug: '', upstreamName: '' }
}

/** A scrambled id, unique within its day: multiplying by an odd number is a bijection modulo 2^32. */
function requestId(day: UtcDate, index: number): string {
  const scattered = Math.imul(index + 1, 0x9e3779b1) >>> 0
  return `req-${day.replaceAll('-', '')}-${scattered.toString(16).padStart(8, '0')}`
}
