import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { describeMachine } from '../support/machine.ts'
import type { Figure, SoakPart } from './part.ts'
import { PARTS } from './parts.ts'

const PAGE = join(import.meta.dirname, '../../docs/reliability.md')

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

/** `make soak`: tries to break each promise, prints what it counted, and with `--write` puts that into docs/reliability.md. */
const program = new Command('soak')
  .description('try to break what docs/reliability.md promises, often, from a seed')
  .addArgument(
    new Argument('[part...]', 'what to try: all of it unless some parts are named').choices(Object.keys(PARTS)),
  )
  .option('--seed <number>', 'what all that is random follows from', readSeed, Date.now() % 1_000_000)
  .option('--share <number>', 'how much of the whole, above 0 and up to 1', readShare, 1)
  .option('--write', 'put the figures into docs/reliability.md')
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
    outcomes.push({ part, figures, seconds: Math.round((performance.now() - start) / 1000) })
    process.stdout.write(`${section(outcomes.slice(-1), { seed, share })}\n`)
  }
  if (write) for (const outcome of outcomes) await writeIntoPage(outcome, { seed, share })
}

function section(outcomes: readonly Outcome[], { seed, share }: Run): string {
  const rows = outcomes.flatMap(({ figures }) => figures.map(({ what, value }) => `| ${what} | ${value} |`))
  const seconds = outcomes.reduce((sum, outcome) => sum + outcome.seconds, 0)
  return [
    '| what | last run |',
    '|---|---|',
    ...rows,
    `| seed, share of the whole, time | ${seed}, ${share}, ${seconds} s |`,
  ].join('\n')
}

/** Replaces what stands between the marks of the part. */
async function writeIntoPage(outcome: Outcome, run: Run): Promise<void> {
  const { name } = outcome.part
  const [begin, end] = [`<!-- soak ${name} -->`, `<!-- end of soak ${name} -->`]
  const page = await readFile(PAGE, 'utf8')
  const [before, rest] = page.split(begin, 2)
  const [, after] = rest?.split(end, 2) ?? []
  if (before === undefined || after === undefined) throw new Error(`${PAGE} has no place for the part ${name}`)
  const on = Object.entries(describeMachine()).map(([key, value]) => `${key} ${value}`)
  const table = section([outcome], run)
  await writeFile(PAGE, `${before}${begin}\nMeasured on: ${on.join(', ')}.\n\n${table}\n${end}${after}`)
}

await program.parseAsync()
