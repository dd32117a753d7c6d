import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { describeMachine, measuredOn } from '../support/machine.ts'
import { replaceBetweenMarks } from '../support/page.ts'
import type { Figure, SoakPart } from './part.ts'
import { PARTS } from './parts.ts'

const PAGE = join(import.meta.dirname, '../../docs/evidence/reliability.md')

interface Options {
  seed: number
  share: number
  write?: true
}

type Run = Pick<Options, 'seed' | 'share'>

/** What came of one part. */
interface Outcome {
  part: SoakPart
  figures: Figure[]
  seconds: number
}

/** `make soak`: tries to break each promise and prints the counts; `--write` puts them into docs/evidence/reliability.md. */
const program = new Command('soak')
  .description('try to break what docs/evidence/reliability.md promises, often, from a seed')
  .addArgument(
    new Argument('[part...]', 'what to try: all of it unless some parts are named').choices(Object.keys(PARTS)),
  )
  .option('--seed <number>', 'what all that is random follows from', readSeed, Date.now() % 1_000_000)
  .option('--share <number>', 'how much of the whole, above 0 and up to 1', readShare, 1)
  .option('--write', 'put the figures into docs/evidence/reliability.md')
  .action((names, options: Options) => run(names.length > 0 ? names : Object.keys(PARTS), options))

function readSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number below 1000000000.')
  return Number(text)
}

function readShare(text: string): number {
  const share = Number(text)
  if (!(share > 0 && share <= 1)) throw new InvalidArgumentError('It must be a number above 0 and not above 1.')
  return share
}

async function run(names: readonly string[], { seed, share, write }: Options): Promise<void> {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort(new Error('stopped')))
  const outcomes: Outcome[] = []
  for (const name of names) {
    const { part } = (await PARTS[name]?.()) ?? {}
    if (part === undefined) continue
    const report = (text: string) => process.stderr.write(`${name}: ${text}\n`)
    report(`${part.promise} (seed ${seed}, share ${share})`)
    const start = performance.now()
    const figures = await part.run({ seed, share, signal: controller.signal, report })
    const outcome = { part, figures, seconds: Math.round((performance.now() - start) / 1000) }
    outcomes.push(outcome)
    process.stdout.write(`${table(outcome, { seed, share })}\n`)
  }
  if (write) for (const outcome of outcomes) await writeIntoPage(outcome, { seed, share })
}

function table({ figures, seconds }: Outcome, { seed, share }: Run): string {
  const rows = figures.map(({ what, value }) => `| ${what} | ${value} |`)
  return [
    '| what | last run |',
    '|---|---|',
    ...rows,
    `| seed, share of the whole, time | ${seed}, ${share}, ${seconds} s |`,
  ].join('\n')
}

function writeIntoPage(outcome: Outcome, run: Run): Promise<void> {
  const text = `${measuredOn(describeMachine())}\n\n${table(outcome, run)}`
  return replaceBetweenMarks(PAGE, `soak ${outcome.part.name}`, () => text)
}

await program.parseAsync()
