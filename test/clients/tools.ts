/** Programs that generate and run clients, kept between runs; where one cannot be had, the reason to skip. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REPOSITORY } from '../support/pipeline.ts'
import { type Finished, run } from '../system/clone.ts'
import { asWanted, noteVersions } from './newest.ts'

const CACHE = join(REPOSITORY, 'node_modules/.cache/npm')

/** Installs the packages that follow into the folder that comes first, unless they are there. */
const INSTALL = `
  folder=$1; shift
  if [ ! -e "$folder/complete" ]; then
    npm install --ignore-scripts --no-audit --no-fund --loglevel=error --prefix "$folder" "$@" && touch "$folder/complete"
  fi`

/** Packages of npm in a folder, or why there are none. */
export type Packages = { folder: string } | { reason: string }

/** A folder whose `node_modules` has exactly these packages of npm and what they need. */
export async function npmWith(packages: readonly string[]): Promise<Packages> {
  const wanted = asWanted(packages)
  const folder = join(CACHE, wanted.folder)
  await mkdir(folder, { recursive: true })
  const made = await runTool('flock', [`${folder}.lock`, 'sh', '-c', INSTALL, 'sh', folder, ...wanted.packages])
  const installed: Packages = made.code === 0 ? { folder } : { reason: `no ${packages.join(', ')}: ${lastLine(made)}` }
  await noteVersions(packages, installed, (name) => versionOf(folder, name))
  return installed
}

async function versionOf(folder: string, name: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
}

/** Runs a program as a person would, with the registries of this machine. A program that is missing has no code. */
export async function runTool(command: string, words: readonly string[], cwd = REPOSITORY): Promise<Finished> {
  try {
    return await run(command, words, { cwd, env: process.env })
  } catch (error) {
    return { code: null, stdout: '', stderr: String(error) }
  }
}

export function lastLine({ stdout, stderr }: Finished): string {
  return `${stdout}\n${stderr}`.trim().split('\n').at(-1) ?? ''
}
