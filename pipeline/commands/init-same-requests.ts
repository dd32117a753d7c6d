import { z } from 'zod'
import type { PipelineConfig } from '../base/config.ts'
import { readTextIfAny } from '../base/files.ts'
import { jsonIfAny } from '../base/json.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'
import { MAPPINGS } from '../raw/schemas/index.ts'
import { showSameRequests } from '../raw/schemas/same-requests.ts'
import { readIndex } from '../release/index.ts'
import { sourcesPath } from '../rollup/intake.ts'
import type { DiagnosedSource } from '../setup/doctor.ts'
import type { Interview } from './interview.ts'

/** The schemas that a sources file has that is about to be replaced, if there are releases. */
export async function publishedSchemas(config: PipelineConfig): Promise<string[]> {
  const { releases } = await readIndex(config.publicDir)
  const text = releases.length === 0 ? undefined : await readTextIfAny(sourcesPath(config))
  const named = z.object({ sources: z.array(z.object({ schema: z.string() })) }).safeParse(jsonIfAny(text ?? ''))
  return named.data?.sources.map(({ schema }) => schema) ?? []
}

/** Asks which of two sources counts that show the same requests on some date. */
export async function askSameRequests(
  sources: readonly DiagnosedSource[],
  published: readonly string[],
  { interview, write }: { interview: Interview; write(text: string): void },
): Promise<DiagnosedSource[]> {
  const kept = new Map(sources.map((source) => [source.entry.name, source]))
  for (const names of sources.flatMap((one, position) => sources.slice(position + 1).map((other) => [one, other]))) {
    const [first, second] = names.flatMap(({ entry }) => kept.get(entry.name) ?? []).sort(fullerFirst)
    if (first === undefined || second === undefined || !overlap(first, second)) continue
    const earlier = [second, first].find(({ entry }) => published.includes(entry.schema))
    const [main, other] = earlier === second ? [second, first] : [first, second]
    const [one, two] = [main.entry.name, other.entry.name]
    const later = beginningAfter(other, main.reading.days.at(-1)?.date)
    const answers = [one, two, 'both', ...(later === undefined ? [] : [`${one} then ${two}`])]
    const answer = await interview.ask({
      text: `${one} and ${two} show the same requests. Which one counts (${answers.join(', ')})`,
      flag: '',
      isOptional: true,
      fallback: (earlier === undefined ? one : answers[3]) ?? one,
      example: one,
      problem: (given) => (answers.includes(given) ? undefined : `must be one of ${answers.join(', ')}`),
    })
    if (answer === 'both') continue
    if (answer === one || answer === two) kept.delete(answer === one ? two : one)
    else if (later !== undefined) kept.set(two, later)
    const how = answer === one || answer === two ? `only ${answer} counts` : `${two} counts from the day after ${one}`
    write(`\n${one} and ${two} show the same requests: ${how}\n`)
  }
  return [...kept.values()]
}

function overlap(one: DiagnosedSource, other: DiagnosedSource): boolean {
  const dates = new Set(one.reading.days.map(({ date }) => date))
  return (
    showSameRequests(one.entry.schema, other.entry.schema) && other.reading.days.some(({ date }) => dates.has(date))
  )
}

function fullerFirst(one: DiagnosedSource, other: DiagnosedSource): number {
  const [a = 0n, b = 0n] = [one, other].map(({ reading }) => reading.days.reduce((sum, { tokens }) => sum + tokens, 0n))
  return a === b ? other.reading.read - one.reading.read : a > b ? -1 : 1
}

/** The source without its usage up to a date; undefined if its times are numbers, of which no condition asks. */
function beginningAfter(source: DiagnosedSource, date: UtcDate | undefined): DiagnosedSource | undefined {
  const { timestamp } = source.entry.columns ?? {}
  const [time] = [timestamp ?? MAPPINGS[source.entry.schema].timestamp].flat()
  const [path] = [typeof time === 'object' ? time.path : time].flat()
  const isNumber = typeof time === 'object' && time.unit !== 'day'
  if (date === undefined || path === undefined || isNumber) return undefined
  return { ...source, entry: { ...source.entry, where: { [path]: { since: addDays(date, 1) } } } }
}
