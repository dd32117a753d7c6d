/** Programs that generate and run clients, kept between runs; where one cannot be had, the reason to skip. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { REPOSITORY } from '../support/pipeline.ts'
import { type Finished, run } from '../system/clone.ts'

const { NEWEST_CLIENTS } = process.env

/** Whether `make test-clients ARGS=--newest` runs: with the newest of everything, to see what clients will soon do. */
const TAKES_NEWEST = NEWEST_CLIENTS === '1'

const CACHE = join(REPOSITORY, 'node_modules/.cache/npm')

/** The packages to install in place of pinned ones, such as `pandas==3.1.1` or `openapi-fetch@0.17.0`, and their folder. */
export function asWanted(pinned: readonly string[]): { packages: readonly string[]; folder: string } {
  const packages = TAKES_NEWEST ? pinned.map((one) => one.replace(/(?<=.)(==|@).*$/, '')) : pinned
  const since = TAKES_NEWEST ? [`newest-${new Date().toISOString().slice(0, 10)}`] : []
  return { packages, folder: [...since, ...packages].join('-').replaceAll(/[^A-Za-z0-9.]+/g, '-') }
}

/** A folder whose `node_modules` has exactly these packages and what they need. */
export async function npmWith(packages: readonly string[]): Promise<{ folder: string } | { reason: string }> {
  const wanted = asWanted(packages)
  const folder = join(CACHE, wanted.folder)
  await mkdir(folder, { recursive: true })
  const words = ['install', '--no-audit', '--no-fund', '--prefix', folder, ...wanted.packages]
  const { code, stderr } = await runTool('npm', words)
  return code === 0 ? { folder } : { reason: `no ${wanted.packages.join(', ')}: ${stderr.trim().split('\n').at(-1)}` }
}

/** Runs a program as a person would, with the registries of this machine. A program that is missing has no code. */
export async function runTool(command: string, words: readonly string[], cwd = REPOSITORY): Promise<Finished> {
  try {
    return await run(command, words, { cwd, env: process.env })
  } catch (error) {
    return { code: null, stdout: '', stderr: String(error) }
  }
}
