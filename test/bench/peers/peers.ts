/** Programs of others that read the same files, in a Python environment of their own. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Python, pythonWith } from '../../clients/python.ts'
import type { Measured } from '../measure.ts'
import { runProcess } from '../process.ts'
import type { RawFiles } from '../records.ts'

export type Peers = { python: string } | { reason: string }

type Format = RawFiles['format']

/** Programs that print the sums of files, each with the formats that it reads. */
export const SUMMING: readonly { name: string; script: string; formats: readonly Format[] }[] = [
  { name: 'polars with checks', script: 'polars_sums.py', formats: ['parquet', 'csv.gz'] },
  { name: 'pandas with the checks of pandera', script: 'pandas_sums.py', formats: ['parquet', 'csv.gz'] },
  {
    name: 'embedded ClickHouse (chdb), no checks',
    script: 'chdb_sums.py',
    formats: ['parquet', 'csv.gz', 'ndjson.gz'],
  },
]

/** The Python of `requirements.txt`: PEERS_PYTHON where it is set, or one that is installed once. */
export async function findPeers(): Promise<Peers> {
  const { PEERS_PYTHON } = process.env
  if (PEERS_PYTHON !== undefined) return { python: PEERS_PYTHON }
  const requirements = await readFile(join(import.meta.dirname, 'requirements.txt'), 'utf8')
  const python: Python = await pythonWith(requirements.split('\n').filter((line) => /^\w/.test(line)))
  return 'bin' in python ? { python: join(python.bin, 'python') } : python
}

/** Each program that sums files of the format. */
export function sumsBy(peers: Peers, format: Format): { name: string; sum: (folder: string) => Promise<Measured> }[] {
  if ('reason' in peers) return []
  const able = SUMMING.filter(({ formats }) => formats.includes(format))
  return able.map(({ name, script }) => ({
    name,
    sum: (folder) => runProcess(peers.python, [join(import.meta.dirname, script), format, folder]),
  }))
}
