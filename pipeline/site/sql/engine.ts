import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BuildError } from '../../base/errors.ts'
import { gzipSmall } from '../../base/gzip.ts'

/** A file of DuckDB for browsers, as it is published. Read when its bytes are first needed. */
export interface EngineFile {
  path: string
  /** What the bytes are made from. */
  key: string
  readonly text: Buffer
}

/** By the names of the package `@duckdb/duckdb-wasm`. Another version has other hashes. */
const PACKAGE_FILES = {
  'duckdb-eh.wasm': '4c221bfa59c11f24dbd750e70c90b9252eca6eec5633936e6a2ec766e55fd879',
  'duckdb-browser-eh.worker.js': 'f8ab72b6b90b3ad83077d47426d4a99d5d9a4c7e07cba1a2be37d655adc7c1ab',
} as const

/** Tells the page why WebAssembly does not start: the worker itself would wait forever. */
const REPORTING = 'addEventListener("unhandledrejection",({reason})=>setTimeout(()=>{throw reason}));\n'

/** Level 6 takes 0.6 s of CPU time for 34 MB. Level 9 takes twice as long and saves less than 1 %. */
const LEVEL = 6
const HASH_DIGITS = 16

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/tokenboard', import.meta.url))

const WASM = engineFile('wasm.gz', PACKAGE_FILES['duckdb-eh.wasm'], compressedWasm)
const WORKER = engineFile('js', `${PACKAGE_FILES['duckdb-browser-eh.worker.js']} ${REPORTING}`, () =>
  Buffer.concat([Buffer.from(REPORTING), packageFile('duckdb-browser-eh.worker.js')]),
)

/** The published files of DuckDB. */
export const ENGINE_FILES: readonly EngineFile[] = [WORKER, WASM]

/** Where pages find them. */
export const ENGINE_PATHS = { worker: WORKER.path, wasm: WASM.path } as const

function engineFile(ending: string, source: string, read: () => Buffer): EngineFile {
  const key = hash('sha256', source)
  let bytes: Buffer | undefined
  return {
    path: `assets/duckdb-${key.slice(0, HASH_DIGITS)}.${ending}`,
    key,
    get text() {
      bytes ??= read()
      return bytes
    },
  }
}

/** Compressed once an installation: every new folder has the same file. */
function compressedWasm(): Buffer {
  const name = 'duckdb-eh.wasm'
  const kept = join(CACHE, `${PACKAGE_FILES[name]}-${LEVEL}.gz`)
  if (existsSync(kept)) return readFileSync(kept)
  const compressed = gzipSmall(packageFile(name), LEVEL)
  keep(kept, compressed)
  return compressed
}

/** Several builds may do this at once. */
function keep(path: string, bytes: Buffer): void {
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(draft, bytes)
    renameSync(draft, path)
  } catch (error) {
    // Another user may have installed the packages, as in the Docker image.
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function packageFile(name: keyof typeof PACKAGE_FILES): Buffer {
  const path = createRequire(import.meta.url).resolve(`@duckdb/duckdb-wasm/dist/${name}`)
  const bytes = readFileSync(path)
  if (hash('sha256', bytes) === PACKAGE_FILES[name]) return bytes
  throw new BuildError(`${path} is not the file that sql/engine.ts expects; install the packages again (npm ci)`)
}
