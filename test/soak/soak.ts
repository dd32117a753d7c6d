import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { describeMachine, measuredOn } from '../support/machine.ts'
import { replaceBetweenMarks } from '../support/page.ts'
import type { SoakPart } from './part.ts'

const PAGE = join(import.meta.dirname, '../../docs/evidence/reliability.md')

/** In the order of the page. */
const PARTS = ['publish', 'store', 'load', 'deployment', 'endpoints', 'input', 'logs', 'disclosure', 'year']

interface Options {
  seed: number
  share: number
  write?: true
}

/** `make soak`: tries to break each promise and prints the counts; `--write` puts them into docs/evidence/reliability.md. */
const program = new Command('soak')
  .description('try to break what docs/evidence/reliability.md promises, often, from a seed')
  .addArgument(new Argument('[part...]', 'what to try: everything unless some parts are named').choices(PARTS))
  .option('--seed <number>', 'what everything random follows from', readSeed, Date.now() % 1_000_000)
  .option('--share <number>', 'how much of the whole, above 0 and up to 1', readShare, 1)
  .option('--write', 'put the figures into docs/evidence/reliability.md')
  .action((names, options: Options) => run(names.length > 0 ? names : PARTS, options))

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
  const tables = new Map<string, string>()
  for (const name of names) {
    const { part }: { part: SoakPart } = await import(`./${name}.ts`)
    const report = (text: string) => process.stderr.write(`${name}: ${text}\n`)
    report(`${part.promise} (seed ${seed}, share ${share})`)
    const start = performance.now()
    const figures = await part.run({ seed, share, signal: controller.signal, report }).catch((error: Error) => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: error })
    })
    const seconds = Math.round((performance.now() - start) / 1000)
    const last = { what: 'seed, share of the whole, time', value: `${seed}, ${share}, ${seconds} s` }
    const rows = [...figures, last].map(({ what, value }) => `| ${what} | ${value} |`)
    tables.set(name, ['| what | last run |', '|---|---|', ...rows].join('\n'))
    process.stdout.write(`${tables.get(name)}\n`)
  }
  if (!write) return
  const machine = measuredOn(describeMachine())
  for (const [name, table] of tables) await replaceBetweenMarks(PAGE, `soak ${name}`, () => `${machine}\n\n${table}`)
}

await program.parseAsync()
