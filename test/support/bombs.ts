/** Raw files that are small until somebody reads them, and what a build takes to refuse them. */
import { spawn } from 'node:child_process'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { namesIn } from '../../pipeline/base/files.ts'
import {
  AS_OF,
  createWorkspace,
  REPOSITORY,
  removeWorkspace,
  settings,
  type Workspace,
  writeInput,
} from './pipeline.ts'

/** A raw file, and what the error about it says. */
export interface Bomb {
  what: string
  name: string
  error: RegExp
  write(file: FileHandle): Promise<void>
}

const MEBIBYTE = 2 ** 20
const GIBIBYTE = 2 ** 30
const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'

/** `begin` and then a gibibyte of one byte, in parts that are compressed alone. */
function inflating(begin: string, byte: string, compress: (bytes: Buffer) => Buffer) {
  return async (file: FileHandle) => {
    const part = compress(Buffer.alloc(16 * MEBIBYTE, byte))
    await file.write(compress(Buffer.from(begin)))
    for (let written = 0; written < GIBIBYTE; written += 16 * MEBIBYTE) await file.write(part)
  }
}

/** `begin` and then two gibibytes of zeros that take no place on the disk. */
const sparse = (begin: string) => async (file: FileHandle) => {
  await file.write(begin)
  await file.truncate(2 * GIBIBYTE)
}

export const BOMBS: readonly Bomb[] = [
  {
    what: '1 GiB of zeros in a gzip file of 1 MiB',
    name: 'a.csv.gz',
    error: /1 of 1 records .*rejected.*a\.csv\.gz/s,
    write: inflating(HEADER, '\0', gzipSync),
  },
  {
    what: 'a line of 2 GiB in a CSV file',
    name: 'a.csv',
    error: /1 of 1 records .*rejected.*a\.csv/s,
    write: sparse(HEADER),
  },
  {
    what: 'a line of 2 GiB in an NDJSON file',
    name: 'a.ndjson',
    error: /1 of 1 records .*rejected.*a\.ndjson/s,
    write: sparse('{"note":"'),
  },
  {
    what: 'a field of 1 GiB in quotes, in a zstd file',
    name: 'a.csv.zst',
    error: /a\.csv\.zst cannot be read whole: the quote that record 1 opens is never closed/,
    write: inflating(`${HEADER}2025-03-02,"`, 'x', zstdCompressSync),
  },
  {
    what: 'a header of 1 GiB in a gzip file',
    name: 'a.csv.gz',
    error: /a\.csv\.gz: .*header|a\.csv\.gz cannot be read whole/,
    write: inflating('', 'x', gzipSync),
  },
  {
    what: 'a line of 1 GiB in an NDJSON file packed by zstd',
    name: 'a.ndjson.zst',
    error: /1 of 1 records .*rejected.*a\.ndjson\.zst/s,
    write: inflating('{"note":"', 'x', zstdCompressSync),
  },
  {
    what: '1 GiB of brackets in an NDJSON file packed by gzip',
    name: 'a.ndjson.gz',
    error: /a\.ndjson\.gz is cut/,
    write: inflating('', '[', gzipSync),
  },
  {
    what: '1 GiB of zeros for a Parquet file, packed by gzip',
    name: 'a.parquet.gz',
    error: /a\.parquet\.gz cannot be read whole: it is not Parquet/,
    write: inflating('', '\0', gzipSync),
  },
]

/** DuckDB's share of the memory, and the least that a build may have on top of it. */
const MEMORY_LIMIT = '512MiB'
const MOST_MIB = 1024

const TELL_MEMORY = `process.on('exit', () => require('node:fs').writeSync(3, String(process.resourceUsage().maxRSS)))`

/** Builds from a bomb. Throws unless that ends with its error, in bounded memory, and leaves nothing behind. */
export async function buildBomb({ what, name, error, write }: Bomb): Promise<{ peakMiB: number; seconds: string }> {
  const workspace = await createWorkspace()
  try {
    const file = await open(join(workspace.input, name), 'w')
    await write(file)
    await file.close()
    const source = { name: 's', schema: 'canonical', files: [name], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    const start = performance.now()
    const { code, stderr, peakMiB } = await measuredBuild(workspace)
    const left = (await namesIn(join(workspace.dataDir, 'state'))).filter((entry) => entry === 'tmp')
    if (code !== 1 || !error.test(stderr)) throw new Error(`${what}: the build ended with ${code}: ${stderr}`)
    if (peakMiB > MOST_MIB) throw new Error(`${what}: the build took ${peakMiB} MiB`)
    if (left.length > 0) throw new Error(`${what}: the build left its temporary folder behind`)
    return { peakMiB, seconds: ((performance.now() - start) / 1000).toFixed(1) }
  } finally {
    await removeWorkspace(workspace)
  }
}

/** `build` in a process of its own, and the most memory that it had. */
async function measuredBuild(workspace: Workspace): Promise<{ code: number | null; stderr: string; peakMiB: number }> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, ...settings(workspace, AS_OF), MEMORY_LIMIT }
  const preload = `data:text/javascript,${encodeURIComponent(`import{createRequire}from'node:module';const require=createRequire('/');${TELL_MEMORY}`)}`
  const args = ['--import', preload, join(REPOSITORY, 'pipeline/cli.ts'), 'build']
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  const code = new Promise<number | null>((done) => child.once('close', done))
  const [stderr, peak] = await Promise.all([text(child.stderr as Readable), text(child.stdio[3] as Readable)])
  return { code: await code, stderr, peakMiB: Math.round(Number(peak) / 1024) }
}
