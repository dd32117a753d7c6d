import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { type Mutant, readMutated } from './mutant.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What the tests made of the code. */
export type Verdict =
  | { kind: 'passed'; tests: number }
  /** A test ran and failed. */
  | { kind: 'failed'; file: string; test: string }
  /** The code does not parse or load, which proves nothing about the tests. */
  | { kind: 'broken'; reason: string }

/** A copy of the project in which a fault may be tried: the project itself is never changed. */
export interface Workplace {
  /** Runs test files with the code as it is; of their tests those with the titles in `only`. */
  run(files: readonly string[], only?: readonly string[]): Promise<Verdict>
  /** Runs the test files of a mutant with its fault in place. */
  try(mutant: Mutant): Promise<Verdict>
  remove(): Promise<void>
}

export async function openWorkplace(): Promise<Workplace> {
  const home = await mkdtemp(join(tmpdir(), 'tokenboard-mutants-'))
  const root = join(home, 'project')
  await copyProject(root)
  let running: ChildProcess | undefined

  const run = async (files: readonly string[], only: readonly string[] = []): Promise<Verdict> => {
    const report = join(home, 'report.json')
    await rm(report, { force: true })
    const vitest = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      'unit',
      '--project',
      'mocked',
      '--bail',
      '1',
      '--maxWorkers',
      '1',
    ]
    const options = ['--reporter', 'json', '--outputFile', report]
    const names = only.length === 0 ? [] : ['--testNamePattern', `(^|\\s)(${only.map(RegExp.escape).join('|')})$`]
    const given = ['--disable-warning=ExperimentalWarning', ...vitest, ...options, ...names, ...files]
    running = spawn(process.execPath, given, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    running.stderr?.on('data', (chunk) => {
      errors += chunk
    })
    const { promise, resolve, reject } = Promise.withResolvers<number | null>()
    running.once('error', reject).once('close', resolve)
    const code = await promise
    return judge(root, code, await readFile(report, 'utf8').catch(() => undefined), errors)
  }

  return {
    run,
    async try(mutant) {
      const { original, mutated } = readMutated(root, mutant)
      await writeFile(join(root, mutant.file), mutated)
      try {
        return await run(mutant.tests)
      } finally {
        await writeFile(join(root, mutant.file), original)
      }
    },
    async remove() {
      running?.kill('SIGKILL')
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Copies what git knows of or would add, and links the installed packages. */
async function copyProject(root: string): Promise<void> {
  const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  for (const path of new Set(listing.toString().split('\0').filter(Boolean))) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    // A file that was removed and not yet committed is still listed.
    await cp(join(ROOT, path), join(root, path), { verbatimSymlinks: true }).catch(ignoreMissing)
  }
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  numPassedTests: number
  testResults: {
    name: string
    message: string
    assertionResults: { status: string; title: string; failureMessages: string[] }[]
  }[]
}

/** Errors of code that no longer makes sense, of JavaScript and of DuckDB's SQL; not those of a test that reads no JSON. */
const NONSENSE = /\b(SyntaxError(?!.* JSON)|ReferenceError|Parser Error|Binder Error|Catalog Error)\b.*/

function judge(root: string, code: number | null, text: string | undefined, errors: string): Verdict {
  if (text === undefined) return { kind: 'broken', reason: firstLine(errors) || `vitest ended with ${code}` }
  const { numPassedTests, testResults }: Report = JSON.parse(text)
  if (code === 0 && numPassedTests > 0) return { kind: 'passed', tests: numPassedTests }
  const failures = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map((test) => ({ ...test, file: relative(root, name) })),
  )
  const [failed] = failures
  if (failed === undefined) {
    const message = testResults.map((file) => file.message).find((message) => message !== '')
    return { kind: 'broken', reason: firstLine(message ?? errors) || 'no test ran' }
  }
  const nonsense = failed.failureMessages.map((message) => NONSENSE.exec(message)?.[0]).find(Boolean)
  if (nonsense !== undefined) return { kind: 'broken', reason: nonsense }
  return { kind: 'failed', file: failed.file, test: failed.title }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}
