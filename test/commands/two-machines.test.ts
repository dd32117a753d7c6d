/** Equal inputs, AS_OF and earlier releases give equal bytes on every machine. */
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { build } from '../../pipeline/build.ts'
import {
  createWorkspace,
  effectsWith,
  newWorkspace,
  removeWorkspace,
  runProcess,
  settings,
  snapshotTree,
  type Workspace,
  writeSource,
} from '../support/pipeline.ts'
import { COLUMNS, type FileRecord, writeRecords } from '../support/records.ts'

const [AS_OF_FIRST, AS_OF_SECOND] = ['2025-03-10T10:00:00Z', '2025-03-11T10:00:00Z']

/** Enough for several threads: DuckDB gives each at least 2,048 rows or a file. */
const RECORDS_PER_FILE = 6000
const FORMATS = ['csv', 'ndjson.gz', 'parquet', 'csv.zst', 'ndjson', 'parquet']

/** Many equal token counts, and slugs that some locales order differently. */
function recordsOf(file: number): FileRecord[] {
  return Array.from({ length: RECORDS_PER_FILE }, (_, index) => {
    const number = file * RECORDS_PER_FILE + index
    const model = ['ä/model-', 'z/model-', 'Z/model-', 'i/model-', 'İ/model-'][number % 5] ?? ''
    return {
      // No offset: 23:30 is another day elsewhere.
      timestamp: `2025-03-${String((number % 9) + 1).padStart(2, '0')} 23:30:00`,
      model_permaslug: `${model}${number % 70}`,
      prompt_tokens: number % 997 === 0 ? 'none' : String((number % 7) * 1000),
      completion_tokens: String(number % 3),
      request_id: number % 4 === 0 ? '' : `request-${number % 20_000}`,
      visibility: number % 50 === 0 ? 'private' : '',
    }
  })
}

/** The files that every machine gets copies of. */
let rawFiles: Workspace

beforeAll(async () => {
  rawFiles = await createWorkspace()
  for (const [file, format] of FORMATS.entries()) {
    await writeRecords(join(rawFiles.input, `${file}.${format}`), recordsOf(file), { columns: COLUMNS })
  }
  return () => removeWorkspace(rawFiles)
})

interface Machine {
  /** Name of the file with this number. */
  nameOf(file: number): string
  build(workspace: Workspace, asOf: string): Promise<unknown>
}

const machineOf = (threads: number): Machine => ({
  nameOf: (file) => `raw/${file}`,
  build: (workspace, asOf) => build({ ...readPipelineConfig(settings(workspace, asOf)), threads }, effectsWith()),
})

/** Two releases, the second with a file more; gives everything below the public folder. */
async function publishOn({ nameOf, build: buildOn }: Machine, workspace: Workspace): Promise<Record<string, string>> {
  const files = ['**/*.{csv,csv.zst,ndjson,ndjson.gz,parquet}']
  await writeSource(workspace, files, { name: 'gateway' }, { max_rejected_share: 0.5 })
  for (const [file, format] of FORMATS.entries()) {
    if (file === FORMATS.length - 1) await buildOn(workspace, AS_OF_FIRST)
    const path = join(workspace.input, `${nameOf(file)}.${format}`)
    await mkdir(dirname(path), { recursive: true })
    await copyFile(join(rawFiles.input, `${file}.${format}`), path)
  }
  await buildOn(workspace, AS_OF_SECOND)
  return snapshotTree(workspace.publicDir)
}

describe('published bytes', () => {
  let expected: Record<string, string>

  beforeAll(async () => {
    const workspace = await createWorkspace()
    expected = await publishOn(machineOf(1), workspace)
    await removeWorkspace(workspace)
    expect(Object.keys(expected).filter((path) => path.endsWith('SHA256SUMS'))).toHaveLength(2)
  })

  it('are the same with 1 thread and with 4', async () => {
    expect(await publishOn(machineOf(4), await newWorkspace())).toEqual(expected)
  })

  it('are the same with another time zone, locale, folder and memory limit, and other names and order of raw files', async () => {
    const workspace = await createWorkspace('Eingänge von 2025')
    try {
      await mkdir(join(workspace.root, 'cwd'))
      const elsewhere = { TZ: 'Pacific/Auckland', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' }
      const machine: Machine = {
        nameOf: (file) => `tief/unten/${9 - file} É`,
        async build(where, asOf) {
          const environment = { ...settings(where, asOf), ...elsewhere, MEMORY_LIMIT: '512MiB' }
          const { code, stderr } = await runProcess(['build'], environment, join(where.root, 'cwd'))
          expect(code, stderr).toBe(0)
        },
      }
      expect(await publishOn(machine, workspace)).toEqual(expected)
    } finally {
      await removeWorkspace(workspace)
    }
  })
})
