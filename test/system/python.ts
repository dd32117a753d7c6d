/** Python environments with packages of PyPI, kept between runs; where there is no PyPI, the reason to skip. */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REPOSITORY } from '../support/pipeline.ts'
import { type Finished, run } from './clone.ts'

const CACHE = join(REPOSITORY, 'node_modules/.cache/python')

/** The folder of the programs of an environment, or why there is none. */
export type Python = { bin: string } | { reason: string }

/** An environment with exactly these packages, such as `pandas==3.1.1`, and what they need. */
export async function pythonWith(packages: readonly string[]): Promise<Python> {
  const folder = join(CACHE, packages.join('-').replaceAll(/[^A-Za-z0-9.]+/g, '-'))
  const bin = join(folder, 'bin')
  if (existsSync(join(folder, 'complete'))) return { bin }
  await rm(folder, { recursive: true, force: true })
  await mkdir(CACHE, { recursive: true })
  const made = await runPython('python3', ['-m', 'venv', folder])
  if (made.code !== 0) return { reason: `python3 -m venv fails: ${lastLine(made)}` }
  const installed = await runPython(join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', ...packages])
  if (installed.code !== 0) return { reason: `pip cannot install ${packages.join(', ')}: ${lastLine(installed)}` }
  await writeFile(join(folder, 'complete'), '')
  return { bin }
}

/** Runs a program with the environment of this process, so that pip finds its registry as a person's would. */
export async function runPython(command: string, words: readonly string[], cwd = REPOSITORY): Promise<Finished> {
  try {
    return await run(command, words, { cwd, env: process.env })
  } catch (error) {
    return { code: null, stdout: '', stderr: String(error) }
  }
}

function lastLine({ stdout, stderr }: Finished): string {
  return `${stdout}\n${stderr}`.trim().split('\n').at(-1) ?? ''
}
