/**
 * `node mutant-builds.ts SEED FROM TO`: reads mutants of raw files as a build does, each beside a file that is whole, and
 * compares the numbers with what a reader of its own finds in the same bytes. One line of JSON for each.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { prepare } from '../../pipeline/build.ts'
import { canonicalCsvRow } from '../../pipeline/contract/canonical-csv.ts'
import { Publisher } from '../../pipeline/contract/manifest.ts'
import { readSources } from '../../pipeline/raw/sources.ts'
import { openEngine } from '../../pipeline/rollup/intake.ts'
import { withScratch } from '../../pipeline/rollup/workspace.ts'
import { mutant, validFiles } from './mutants.ts'
import { expectedDataset, type RawRecord } from './oracle.ts'
import { AS_OF, createWorkspace, removeWorkspace, settings, type Workspace, writeInput } from './pipeline.ts'
import { type Readings, readRaw } from './raw-reader.ts'

/** What came of a mutant: `refused` with an error, or read to numbers that another reader finds too, or in part. */
export interface Outcome {
  number: number
  name: string
  outcome: 'refused' | 'agrees' | 'wrong'
  /** Records that were rejected, and why a file was refused or is wrong. */
  rejected?: number
  why?: string
}

const WHOLE: RawRecord = {
  timestamp: '2025-03-01T12:00:00Z',
  model_permaslug: 'acme/whole',
  prompt_tokens: '10',
  completion_tokens: '5',
  request_id: '',
  visibility: '',
}
const WHOLE_FILE = `${Object.keys(WHOLE).join(',')}\n${Object.values(WHOLE).join(',')}\n`

/** Ambiguous records beyond these are too many to try each of their readings. */
const MOST_READINGS = 4096

const { signal } = new AbortController()
const effects = { now: () => new Date(AS_OF), report: () => {}, signal, files: realFiles }

async function main([seed = 0, from = 0, to = 0]: number[]): Promise<void> {
  const workspace = await createWorkspace()
  try {
    await writeInput(workspace, 'whole.csv', WHOLE_FILE)
    const files = await validFiles(seed, workspace.root)
    for (let number = from; number < to; number++) {
      const file = mutant(files, seed, number)
      process.stdout.write(`${JSON.stringify(await tryMutant(workspace, number, file))}\n`)
    }
  } finally {
    await removeWorkspace(workspace)
  }
}

type Mutant = ReturnType<typeof mutant>

async function tryMutant(workspace: Workspace, number: number, file: Mutant): Promise<Outcome> {
  const { name, bytes } = file
  await writeFile(join(workspace.input, name), bytes)
  const source = { name: 's', schema: 'canonical', files: ['whole.csv', name], visibility: 'public' }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources: [source] })
  const told = { number, name }
  const built = await readAsABuild(workspace).catch((error: unknown) => error)
  if (built instanceof BuildError || built instanceof CliError) {
    const isNamed = built.message.includes(name)
    return { ...told, outcome: isNamed ? 'refused' : 'wrong', why: built.message.slice(0, 300) }
  }
  if (built instanceof Error) return { ...told, outcome: 'wrong', why: `${built.stack}`.slice(0, 1500) }
  const { read, rejected, csv } = built as Numbers
  try {
    const expected = answers(await readAnew(file))
    const found = expected.some((answer) => answer.csv === csv && answer.read === read && answer.rejected === rejected)
    if (found) return { ...told, outcome: 'agrees', rejected }
    const [first] = expected
    return {
      ...told,
      outcome: 'wrong',
      why: `found ${JSON.stringify({ read, rejected, csv })}, expected ${JSON.stringify(first)}`,
    }
  } catch (error) {
    return { ...told, outcome: 'wrong', why: `found ${JSON.stringify({ read, rejected, csv })}, but ${error}` }
  }
}

/**
 * What other readers find in a mutant; of Parquet that none of them takes any more what the file said before: a build may be
 * content with less of a footer, and still has no other numbers.
 */
async function readAnew({ name, bytes, original }: Mutant): Promise<Readings[]> {
  const readings = readRaw(name, bytes)
  return name.includes('.parquet') ? readings.catch(() => readRaw(name, original)) : readings
}

interface Numbers {
  read: number
  rejected: number
  csv: string
}

async function readAsABuild(workspace: Workspace): Promise<Numbers> {
  const config = { ...readPipelineConfig(settings(workspace, AS_OF)), threads: 1 }
  const sources = await readSources(workspace.sources)
  const publisher = Publisher.parse(JSON.parse(await readFile(join(workspace.dataDir, 'publisher.json'), 'utf8')))
  return withScratch(config, effects, async (scratch) => {
    const control = { setting: sources.disclosure, dates: undefined }
    const intake = { config, asOf: new Date(AS_OF), sources, synthetic: false, publisher, control }
    const { ranking, records } = (await prepare(scratch, await openEngine(scratch, intake, effects), intake, effects))
      .draft
    return { read: records.read, rejected: sum(records.rejected), csv: ranking.rows.map(canonicalCsvRow).join('') }
  })
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, count) => total + count, 0)

/** What may be published of records, for each choice among their readings. */
function answers(readings: readonly Readings[]): Numbers[] {
  const choices = readings.reduce((product, each) => product * each.length, 1)
  if (choices > MOST_READINGS) throw new Error(`there are ${choices} ways to read it`)
  return Array.from({ length: choices }, (_, choice) => {
    let left = choice
    const records = readings.map((each) => {
      const record = each[left % each.length] as RawRecord
      left = Math.floor(left / each.length)
      return record
    })
    const source = { visibility: 'public' as const, timezone: 'UTC', records: [WHOLE, ...records] }
    const { read, rejected, csv } = expectedDataset([source], [], AS_OF)
    return { read, rejected: sum(rejected), csv: csv.slice(csv.indexOf('\n') + 1) }
  })
}

await main(process.argv.slice(2).map(Number))
