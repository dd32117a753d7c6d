import assert from 'node:assert/strict'
import { BuildError } from '../../pipeline/base/errors.ts'
import type { BuildOptions } from '../../pipeline/build.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { buildIn, createWorkspace, publishedCsv, removeWorkspace, rowsOf, writeInput } from '../support/pipeline.ts'
import {
  having,
  type LogRecord,
  neededSettings,
  PATHS,
  RECORDS,
  type SchemaName,
  toCsv,
  toLines,
} from '../support/schemas.ts'
import { type Dice, diceFrom } from './dice.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const LOGS = 700
const AS_OF = '2025-06-10T12:00:00Z'
const HALF = '\\ud83d'
const PAGED = ['langfuse-api', 'otlp-batches', 'openai-usage', 'anthropic-usage'] as const

/** What a gateway left in its logs, and what a build must make of it. */
interface Logs {
  /** Files by name; a source reads all that begin with its name. */
  files: Record<string, string>
  sources: Record<string, { schema: SchemaName; settings?: LogRecord }>
  /** What the build stops for; undefined if it does not stop. */
  stops?: RegExp | undefined
  /** What is published then, or if the finding is accepted. */
  accept?: string[]
  tokens: number
  rejected?: Record<string, number>
}

/** A record of its own of a schema, with so many tokens. */
function recordOf(schema: SchemaName, id: string, tokens: number): LogRecord {
  const { id: ofId, prompt, completion } = PATHS[schema]
  const record = having(having(RECORDS[schema] as LogRecord, ofId, id), prompt, tokens)
  return withoutTotals(having(record, completion, 0))
}

/** Sums that other fields give would contradict the tokens. */
function withoutTotals(record: LogRecord): LogRecord {
  const text = JSON.stringify(record, (key, value) =>
    /total_?tokens|total_units|^total$|(?<!un)cache|reasoning/i.test(key) ? undefined : value,
  )
  return JSON.parse(text)
}

const sumOf = (list: readonly number[]) => list.reduce((sum, each) => sum + each, 0)
const counts = (dice: Dice, most: number) => Array.from({ length: 1 + dice.below(most) }, () => 1 + dice.below(1000))

/** Requests that LiteLLM logged before it knew a model. */
function failuresOf(count: number): LogRecord[] {
  const tokens = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const failure = { ...RECORDS['litellm-spend-logs'], model: '', status: 'failure', ...tokens }
  return Array.from({ length: count }, (_, index) => ({ ...failure, request_id: `failure-${index}` }))
}

const KINDS: Record<string, (dice: Dice) => Logs> = {
  'half a character in a text that nobody needs': (dice) => {
    const schema = dice.pick(Object.keys(RECORDS) as SchemaName[])
    const tokens = counts(dice, 5)
    const lines = tokens.map((each, index) => {
      const line = JSON.stringify(recordOf(schema, `id-${index}`, each))
      return dice.chance(0.5)
        ? line
        : line.replace('{', `{"no${dice.pick(['', HALF])}te":"${dice.pick(['a', ''])}${HALF}${dice.pick([' b', ''])}",`)
    })
    const isList = dice.chance(0.3)
    const file = isList ? 'log.json' : 'log.ndjson'
    const files = { [file]: isList ? `[${lines.join(',\n')}]` : `${lines.join('\n')}\n` }
    return { files, sources: { log: { schema } }, tokens: sumOf(tokens) }
  },
  'a page that is no page': (dice) => {
    const schema = dice.pick(PAGED)
    const tokens = counts(dice, 6)
    const pages = tokens.map((each, index) => JSON.stringify(recordOf(schema, `id-${index}`, each)))
    const lost = dice.below(pages.length)
    const whole = pages[lost] ?? ''
    pages[lost] = dice.pick([
      'null',
      '{"error":{"message":"rate limited"}}',
      whole.slice(0, 1 + dice.below(whole.length - 1)),
      'Bad Gateway',
      '7',
    ])
    const inLines = dice.chance(0.3) && lost < pages.length - 1
    const files: Record<string, string> = inLines
      ? { 'log.jsonl': `${pages.join('\n')}\n` }
      : Object.fromEntries(pages.map((page, index) => [`log-${index}.json`, page]))
    const file = inLines ? 'log.jsonl' : `log-${lost}.json`
    const rest = sumOf(tokens.filter((_, index) => index !== lost))
    return {
      files,
      sources: { log: { schema } },
      stops: rest === 0 ? /./ : new RegExp(`source "log": ${file}, 1`),
      ...(rest > 0 && { accept: [`unreadable_document:${file}`] }),
      tokens: rest,
      rejected: { unreadable_document: 1 },
    }
  },
  'requests that two sources have': (dice) => {
    const [own, shared] = [dice.below(400), 90 + dice.below(20)]
    const line = (id: string) => `2025-06-01T12:00:00Z,m,1,0,${id}\n`
    const lines = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => line(`${prefix}-${String(index).padStart(12, '0')}`)).join('')
    const header = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id\n'
    const files = {
      'one.csv': header + lines('shared', shared) + lines('one', own),
      'two.csv': header + lines('two', own) + lines('shared', shared),
    }
    const isFound = shared >= 100
    const canonical = { schema: 'canonical' as const }
    return {
      files,
      sources: { one: canonical, two: canonical },
      stops: isFound ? /overlapping_sources:one\+two/ : undefined,
      ...(isFound && { accept: ['overlapping_sources:one+two'] }),
      tokens: 2 * (own + shared),
    }
  },
  'buckets of hours within one of a day': (dice) => {
    const hours = [...new Set(counts(dice, 24).map((each) => each % 24))]
    const start = 1748736000
    const bucket = (from: number, length: number, tokens: number) => ({
      ...{ object: 'bucket', start_time: start + from * 3600, end_time: start + (from + length) * 3600 },
      results: [
        { object: 'organization.usage.completions.result', model: 'm', input_tokens: tokens, output_tokens: 0 },
      ],
    })
    const tokens = 1000 + dice.below(1000)
    const pages = [[bucket(0, 24, tokens)], hours.map((hour) => bucket(hour, 1, 7))]
    const order = dice.chance(0.5) ? pages : pages.toReversed()
    const files = Object.fromEntries(order.map((data, index) => [`log-${index}.json`, JSON.stringify({ data })]))
    return {
      files,
      sources: { log: { schema: 'openai-usage' } },
      tokens,
      rejected: { overlapping_bucket: hours.length },
    }
  },
  'failures that used nothing': (dice) => {
    const tokens = counts(dice, 6)
    const failures = failuresOf(dice.below(40))
    const used = tokens.map((each, index) => recordOf('litellm-spend-logs', `id-${index}`, each))
    const log = [...failures, ...used]
    const isCsv = dice.chance(0.5)
    const files = isCsv ? { 'log.csv': toCsv(log) } : { 'log.ndjson': toLines(log) }
    return {
      files,
      sources: { log: { schema: 'litellm-spend-logs' } },
      tokens: sumOf(tokens),
    }
  },
  'a source of which nothing counts': (dice) => {
    const failures = failuresOf(1 + dice.below(9))
    const [tokens = 1] = counts(dice, 1)
    return {
      files: { 'silent.ndjson': toLines(failures), 'used.ndjson': toLines([recordOf('canonical', 'id', tokens)]) },
      sources: { silent: { schema: 'litellm-spend-logs' }, used: { schema: 'canonical' } },
      stops: /"silent"(.|\n)*uncounted_source/,
      accept: ['uncounted_source'],
      tokens,
    }
  },
  'JSON text that is broken': (dice) => {
    const tokens = counts(dice, 6)
    const records = tokens.map((each, index) => recordOf('new-api-logs', `id-${index}`, each))
    const isBroken = records.map(() => dice.chance(0.3))
    const whole = '{"cache_tokens":0,"model_ratio":1}'
    const log = records.map((record, index) => {
      return { ...record, other: isBroken[index] ? whole.slice(0, 1 + dice.below(whole.length - 1)) : whole }
    })
    const good = tokens.filter((_, index) => !isBroken[index])
    const broken = tokens.length - good.length
    return {
      files: dice.chance(0.5) ? { 'log.csv': toCsv(log) } : { 'log.ndjson': toLines(log) },
      sources: { log: { schema: 'new-api-logs' } },
      stops: good.length === 0 ? /./ : undefined,
      tokens: sumOf(good),
      rejected: broken === 0 ? {} : { invalid_token_count: broken },
    }
  },
}

export const part: SoakPart = {
  promise: 'A log has its right numbers, or the build stops and says why, whatever its gateway left in it.',
  async run(options) {
    const kinds = Object.keys(KINDS)
    const whole = Math.max(kinds.length, shareOf(LOGS, options))
    for (let number = 0; number < whole; number += 1) {
      options.signal.throwIfAborted()
      await tryLogs(kinds[number % kinds.length] ?? '', number, options)
      if (number % 50 === 49) options.report(`built ${number + 1} of ${whole} logs`)
    }
    const figure = (what: string, index: number): Figure => {
      return { what, value: `${Math.ceil((whole - index) / kinds.length)} logs, all right` }
    }
    return kinds.map(figure)
  },
}

async function tryLogs(kind: string, number: number, { seed }: SoakOptions): Promise<void> {
  const make = KINDS[kind]
  assert(make !== undefined)
  const logs = make(diceFrom(seededRandom('logs', seed, number)))
  const workspace = await createWorkspace()
  const build = async (options: BuildOptions) => {
    const { records } = await buildIn(workspace, AS_OF, {}, options)
    const tokens = sumOf(rowsOf(await publishedCsv(workspace)).map((row) => Number(row.split(' ').at(-1))))
    return { tokens, rejected: Object.fromEntries(Object.entries(records.rejected).filter(([, count]) => count > 0)) }
  }
  try {
    for (const [name, content] of Object.entries(logs.files)) await writeInput(workspace, name, content)
    const sources = Object.entries(logs.sources).map(([name, { schema, settings }]) => {
      return { name, schema, files: [`${name}*`], visibility: 'public', ...neededSettings(schema), ...settings }
    })
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources })
    const { stops, accept, tokens, rejected = {} } = logs
    if (stops !== undefined)
      await assert.rejects(build({}), (error) => error instanceof BuildError && stops.test(error.message))
    if (stops !== undefined && accept === undefined) return
    assert.deepEqual(await build({ ...(accept && { accept, note: 'a test' }) }), { tokens, rejected })
  } catch (error) {
    throw new Error(`${kind}, log ${number}: ${JSON.stringify(logs.files)}`, { cause: error })
  } finally {
    await removeWorkspace(workspace)
  }
}
