/** `make mutants`: puts faults into a copy of the project, one at a time, and lists those that no test finds. */
import { Argument, Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { MUTANTS, type Mutant } from './mutant.ts'
import { openWorkplace, type Verdict, type Workplace } from './workplace.ts'

const program = new Command('mutants')
  .description('put small faults into a copy of the project and list those that the tests do not find')
  .addArgument(new Argument('[pattern...]', 'names of mutants, of their files or rooms; * stands for any text'))
  .option('--jobs <number>', 'how many to try at a time', readJobs, 2)
  .option('--list', 'print the mutants and what they break, and try none')
  .action(async (patterns, { jobs, list }) => {
    const chosen = choose(patterns)
    if (list) for (const mutant of chosen) print(`${mutant.name}\n  ${mutant.promise}\n  ${mutant.file}`)
    else process.exitCode = await tryAll(chosen, jobs)
  })

function readJobs(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 99.')
  return Number(text)
}

function choose(patterns: readonly string[]): readonly Mutant[] {
  if (patterns.length === 0) return MUTANTS
  const tests = patterns.map((pattern) => {
    const text = pattern.split('*').map(RegExp.escape).join('.*')
    return new RegExp(`^${text}$`)
  })
  const chosen = MUTANTS.filter(({ name, file }) => tests.some((test) => test.test(name) || test.test(file)))
  if (chosen.length === 0)
    program.error(`no mutant has the name or file ${patterns.join(' ')}; --list prints them`, { exitCode: 2 })
  return chosen
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Returns the exit code. */
async function tryAll(mutants: readonly Mutant[], jobs: number): Promise<number> {
  const workplaces: Workplace[] = []
  const close = () => Promise.all(workplaces.map((workplace) => workplace.remove()))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void close().finally(() => process.exit(130)))
  }
  try {
    for (let job = 0; job < Math.min(jobs, mutants.length); job++) workplaces.push(await openWorkplace())
    const results = await tryEach(mutants, workplaces)
    return (await report(results, workplaces[0])) ? 0 : 1
  } finally {
    await close()
  }
}

interface Result {
  mutant: Mutant
  verdict: Verdict
}

async function tryEach(mutants: readonly Mutant[], workplaces: readonly Workplace[]): Promise<Result[]> {
  const waiting = mutants.values()
  const results: Result[] = []
  const work = async (workplace: Workplace) => {
    for (const mutant of waiting) {
      const start = performance.now()
      const verdict = await workplace.try(mutant)
      results.push({ mutant, verdict })
      const seconds = ((performance.now() - start) / 1000).toFixed(1)
      print(`${results.length}/${mutants.length} ${mutant.name}: ${describe(verdict)} (${seconds} s)`)
    }
  }
  await Promise.all(workplaces.map(work))
  return results
}

/** Prints what came of it. Returns whether every mutant was killed by tests that pass without it. */
async function report(results: readonly Result[], workplace: Workplace | undefined): Promise<boolean> {
  const of = (kind: Verdict['kind']) => results.filter(({ verdict }) => verdict.kind === kind)
  const [killed, survived, broken] = [of('failed'), of('passed'), of('broken')]
  for (const { mutant } of survived) {
    const { name, promise, file, tests } = mutant
    print(`\nSurvived: ${name}\n  breaks: ${promise}\n  in ${file}\n  not noticed by ${tests.join(', ')}`)
  }
  for (const { mutant } of broken) {
    print(`\nBroken: ${mutant.name}\n  the code of ${mutant.file} cannot run with it, which proves nothing`)
  }
  const without = await passWithout(killed, workplace)
  const ofBroken = broken.length === 0 ? '' : `, ${broken.length} broken`
  print(`\n${killed.length} killed, ${survived.length} survived${ofBroken}`)
  return without && survived.length + broken.length === 0
}

/** A test that fails anyway has killed nothing: runs those that failed once more, without a mutant. */
async function passWithout(killed: readonly Result[], workplace: Workplace | undefined): Promise<boolean> {
  const failures = killed.flatMap(({ verdict }) => (verdict.kind === 'failed' ? verdict : []))
  if (failures.length === 0 || workplace === undefined) return true
  print('\nThe tests that failed, without a mutant …')
  const files = new Set(failures.map(({ file }) => file))
  const titles = new Set(failures.map(({ test }) => test))
  const verdict = await workplace.run([...files], [...titles])
  if (verdict.kind === 'passed' && verdict.tests >= titles.size) return true
  print(verdict.kind === 'passed' ? 'Not all of them ran.' : `One of them fails too: ${describe(verdict)}`)
  return false
}

function describe(verdict: Verdict): string {
  if (verdict.kind === 'passed') return 'SURVIVED'
  return verdict.kind === 'broken'
    ? `BROKEN, ${verdict.reason}`
    : `killed by "${shortened(verdict.test)}" of ${verdict.file}`
}

const LONGEST_TITLE = 70

function shortened(title: string): string {
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE)}…` : title
}

await program.parseAsync()
