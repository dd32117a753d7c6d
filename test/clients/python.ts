/** Python environments with packages of PyPI, kept between runs; where there is no PyPI, the reason to skip. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { REPOSITORY } from '../support/pipeline.ts'
import { asWanted, noteVersions } from './newest.ts'
import { lastLine, runTool } from './tools.ts'

const CACHE = join(REPOSITORY, 'node_modules/.cache/python')

/** What people read the dataset with and prove its metadata with: one environment, as most of them want the same packages. */
export const DATA_TOOLS = [
  'frictionless[json]==5.21.0',
  'mlcroissant==1.1.1',
  'pandas==3.1.1',
  'polars==2.1.0',
  'pyarrow==26.0.1',
  'duckdb==2.0.0',
  'pyshacl==0.40.1',
  'bibtexparser==2.1.0',
]

/** The folder of the programs of an environment, or why there is none. */
export type Python = { bin: string } | { reason: string }

/** Makes the environment that comes first with the packages that follow, unless it is there and complete. */
const MAKE = `
  folder=$1; shift
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder" && python3 -m venv "$folder" && "$folder/bin/python" -m pip install --quiet --no-compile "$@" && touch "$folder/complete"
  fi`

/**
 * An environment with exactly these packages, such as `pandas==3.1.1`, and what they need. Of several test files that
 * want it at once one makes it, and the others wait.
 */
export async function pythonWith(packages: readonly string[]): Promise<Python> {
  const wanted = asWanted(packages)
  const folder = join(CACHE, wanted.folder)
  await mkdir(CACHE, { recursive: true })
  const made = await runTool('flock', [`${folder}.lock`, 'sh', '-c', MAKE, 'sh', folder, ...wanted.packages])
  const bin = join(folder, 'bin')
  const python: Python =
    made.code === 0 ? { bin } : { reason: `no Python with ${packages.join(', ')}: ${lastLine(made)}` }
  await noteVersions(packages, python, (name) => versionOf(bin, name))
  return python
}

async function versionOf(bin: string, name: string): Promise<string> {
  const program = 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))'
  return (await runTool(join(bin, 'python'), ['-c', program, name])).stdout.trim()
}
