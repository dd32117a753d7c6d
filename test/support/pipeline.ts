/** Builds in temporary folders with a fixed clock, in process and through the CLI, and reads back what was published. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Effects } from '../../pipeline/base/effects.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { type BuildOptions, build } from '../../pipeline/build.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { LatestPointer } from '../../pipeline/contract/manifest.ts'
import type { Table } from '../../pipeline/contract/tables.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { OVERLAPS_FILE } from '../../pipeline/dataset/overlapping-sources.ts'
import { type WithdrawOptions, type WithdrawSummary, withdraw } from '../../pipeline/publication/withdraw.ts'
import {
  type WithdrawDatesOptions,
  type WithdrawDatesSummary,
  withdrawDates,
} from '../../pipeline/publication/withdraw-dates.ts'
import { type ArchiveSummary, archiveDates } from '../../pipeline/rollup/archive-dates.ts'
import { type OracleRow, type RegistryModel, toCsv } from './oracle.ts'
import { writePublisher } from './publisher.ts'
import { COLUMNS, type FileRecord, writeRecords } from './records.ts'

export const REPOSITORY = resolve(import.meta.dirname, '../..')

/** Noon after the last of the days that the tests use by default. */
export const AS_OF = '2025-03-10T12:00:00Z'

/** The folders of one build. `input` is where sources.json and the raw files lie. */
export interface Workspace {
  root: string
  input: string
  dataDir: string
  publicDir: string
  sources: string
  /** Further settings of its builds, such as SIGNING_KEY_FILE. */
  environment?: Record<string, string>
}

/** New empty folders; who asks for them removes them. */
export async function createWorkspace(inputFolder = 'input'): Promise<Workspace> {
  const root = await mkdtemp(join(tmpdir(), 'tokenboard-test-'))
  const input = join(root, inputFolder)
  const dataDir = join(root, 'data')
  const publicDir = join(root, 'public')
  for (const folder of [input, dataDir, publicDir]) await mkdir(folder)
  await writePublisher(dataDir)
  return { root, input, dataDir, publicDir, sources: join(input, 'sources.json') }
}

export function removeWorkspace(workspace: Workspace): Promise<void> {
  return rm(workspace.root, { recursive: true, force: true })
}

/** New empty folders, removed when the running test is over. */
export async function newWorkspace(): Promise<Workspace> {
  const workspace = await createWorkspace()
  onTestFinished(() => removeWorkspace(workspace))
  return workspace
}

/** A copy of a workspace, removed when the running test is over. */
export async function copyWorkspace(original: Workspace): Promise<Workspace> {
  const copy = await newWorkspace()
  await cp(original.root, copy.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  return copy
}

/** Writes a file below the input folder; anything but text and bytes as JSON. */
export async function writeInput(workspace: Workspace, name: string, content: unknown): Promise<void> {
  const path = join(workspace.input, name)
  await mkdir(dirname(path), { recursive: true })
  const isRaw = typeof content === 'string' || content instanceof Uint8Array
  await writeFile(path, isRaw ? content : JSON.stringify(content))
}

/** Describes the one source of a workspace, which is public and canonical unless its settings say otherwise. */
export function writeSource(workspace: Workspace, files: readonly string[], settings = {}, top = {}): Promise<void> {
  const source = { name: 's', schema: 'canonical', files, visibility: 'public', ...settings }
  return writeInput(workspace, 'sources.json', { ...top, sources: [source] })
}

/** A workspace of these files, which are one source. */
export async function workspaceOf(files: Record<string, unknown>, settings = {}, top = {}): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (const [name, content] of Object.entries(files)) await writeInput(workspace, name, content)
  await writeSource(workspace, Object.keys(files), settings, top)
  return workspace
}

/** The environment of a build of this workspace. */
export function settings(workspace: Workspace, asOf: string): Record<string, string> {
  const { sources, dataDir, publicDir, environment } = workspace
  return { SOURCES: sources, DATA_DIR: dataDir, PUBLIC_DIR: publicDir, AS_OF: asOf, ...environment }
}

/** Effects of a command that says nothing. The clock stands still, far after every `asOf` of the tests. */
export function effectsWith(effects: Partial<Effects> = {}): Effects {
  const now = () => new Date('2026-11-20T00:12:00.987Z')
  return { now, report: () => {}, signal: new AbortController().signal, files: realFiles, ...effects }
}

/** Builds in process. An empty `asOf` leaves it to the clock. */
export async function buildIn(
  workspace: Workspace,
  asOf = AS_OF,
  effects: Partial<Effects> = {},
  options: BuildOptions = {},
): Promise<BuildSummary> {
  return build({ ...readPipelineConfig(settings(workspace, asOf)), threads: 1 }, effectsWith(effects), options)
}

/** Builds in process and listens to what is worth knowing. */
export async function buildAndListen(
  workspace: Workspace,
  asOf = AS_OF,
  options: BuildOptions = {},
): Promise<{ summary: BuildSummary; notices: string[] }> {
  const notices: string[] = []
  const report: Effects['report'] = (event) => event.kind === 'notice' && notices.push(event.message)
  return { summary: await buildIn(workspace, asOf, { report }, options), notices }
}

/** Archives in process. */
export function archiveIn(
  workspace: Workspace,
  before: string,
  asOf = AS_OF,
  { dryRun = false, ...effects }: Partial<Effects> & { dryRun?: boolean } = {},
): Promise<ArchiveSummary> {
  const config = { ...readPipelineConfig(settings(workspace, asOf)), threads: 1 }
  return archiveDates(config, effectsWith(effects), { before: UtcDate.parse(before), dryRun })
}

/** Accepts that sources show the same requests, whichever of them do. */
export async function acceptSameRequests({ dataDir }: Workspace, names: readonly string[]): Promise<void> {
  const pairs = names.flatMap((one) => names.map((other) => ({ sources: [one, other], note: 'A test.' })))
  await writeFile(join(dataDir, OVERLAPS_FILE), JSON.stringify(pairs))
}

/** Withdraws a release in process. */
export async function withdrawIn(
  workspace: Workspace,
  release: string,
  asOf: string,
  effects: Partial<Effects> = {},
  options: Partial<WithdrawOptions> = {},
): Promise<WithdrawSummary> {
  const config = readPipelineConfig(settings(workspace, asOf))
  return withdraw(config, effectsWith(effects), { release, reason: 'It was wrong.', ...options })
}

/** Takes dates out in process. */
export async function withdrawDatesIn(
  workspace: Workspace,
  dates: string,
  asOf: string,
  effects: Partial<Effects> = {},
  options: Partial<WithdrawDatesOptions> = {},
): Promise<WithdrawDatesSummary> {
  return withdrawDates(readPipelineConfig(settings(workspace, asOf)), effectsWith(effects), { dates, ...options })
}

export interface CliResult {
  code: number
  stdout: string
  stderr: string
}

/** Runs the CLI in this process, with these settings and no others. */
export async function runCli(
  args: string[],
  environment: Record<string, string>,
  cwd = REPOSITORY,
): Promise<CliResult> {
  const output = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      output[name] += String(chunk)
      return true
    }),
  )
  const { run } = await import('../../pipeline/commands/program.ts')
  const before = { cwd: process.cwd(), env: process.env }
  const { PATH = '', HOME = '', TMPDIR = '' } = before.env
  process.env = { PATH, HOME, TMPDIR, ...environment }
  process.chdir(cwd)
  try {
    return { code: await run(args), ...output }
  } finally {
    process.chdir(before.cwd)
    process.env = before.env
    for (const spy of spies) spy.mockRestore()
  }
}

/** Runs the CLI in a process of its own, with these settings and no others of the machine's environment. */
export function runProcess(args: string[], environment: Record<string, string>, cwd = REPOSITORY): Promise<CliResult> {
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd, env: { PATH, HOME, ...environment } }
  return new Promise((done) => {
    execFile(process.execPath, [join(REPOSITORY, 'pipeline/cli.ts'), ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      done({ code, stdout, stderr })
    })
  })
}

/** `build` through the CLI. */
export function runBuild(
  workspace: Workspace,
  environment: Record<string, string> = {},
  args: string[] = [],
): Promise<CliResult> {
  return runCli(['build', ...args], { ...settings(workspace, AS_OF), ...environment })
}

/** The folder of the dataset below `PUBLIC_DIR`. */
export function datasetFolder(workspace: Workspace): string {
  return join(workspace.publicDir, 'datasets/rankings-daily/v1')
}

export async function readLatest(workspace: Workspace): Promise<LatestPointer> {
  const text = await readFile(join(datasetFolder(workspace), 'latest.json'), 'utf8')
  return LatestPointer.parse(JSON.parse(text))
}

/** The folder of the current release, by way of latest.json. */
export async function releaseFolder(workspace: Workspace): Promise<string> {
  return join(datasetFolder(workspace), (await readLatest(workspace)).path)
}

/** The canonical CSV of a table of the current release. */
export async function publishedCsv(workspace: Workspace, table: Table = 'daily'): Promise<string> {
  return readFile(join(await releaseFolder(workspace), `rankings-${table}.csv`), 'utf8')
}

/** Every file, folder and link below a folder, by relative path, with what tells one state from another. */
export async function snapshotTree(folder: string): Promise<Record<string, string>> {
  const snapshot: Record<string, string> = {}
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    if (entry.isSymbolicLink()) snapshot[name] = `link to ${await readlink(path)}`
    else if (entry.isFile()) snapshot[name] = sha256(await readFile(path))
    else snapshot[name] = 'folder'
  }
  return snapshot
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** One source of a small build: how sources.json describes it, and its records. */
export interface SmallSource {
  records: FileRecord[]
  settings?: Record<string, unknown> | undefined
  /** Columns of the file beyond the canonical ones of `RawRecord`. */
  extraColumns?: string[] | undefined
}

export interface SmallBuild {
  sources: SmallSource[]
  models?: (Partial<RegistryModel> & { model_permaslug: string; name?: string; author?: string })[] | undefined
  asOf?: string | undefined
  /** Further keys of sources.json. */
  top?: Record<string, unknown> | undefined
}

/** Writes a sources file and one NDJSON file for each source. Sources are public unless their settings say otherwise. */
export async function writeSmallBuild(workspace: Workspace, { sources, models, top }: SmallBuild): Promise<void> {
  if (models !== undefined) {
    const full = models.map((model) => ({ aliases: [], public: true, name: 'A model', author: 'Someone', ...model }))
    await writeInput(workspace, 'models.json', full)
  }
  const described = sources.map((source, index) => ({
    name: `source-${index}`,
    schema: 'canonical',
    files: [`source-${index}.ndjson`],
    visibility: 'public',
    ...source.settings,
  }))
  for (const [index, source] of sources.entries()) {
    const records = source.records.map((record) => ({
      timestamp: '2025-03-02T12:00:00Z',
      completion_tokens: '0',
      ...record,
    }))
    await writeRecords(join(workspace.input, `source-${index}.ndjson`), records, {
      columns: [...COLUMNS, ...(source.extraColumns ?? [])],
    })
  }
  // Few models are enough for most tests, and then an unknown one has a large share.
  const registry = models && { models: 'models.json', max_withheld_share: 1 }
  await writeInput(workspace, 'sources.json', { ...registry, ...top, sources: described })
}

export interface SmallResult {
  summary: BuildSummary
  csv: string
  /** Rows as `date model tokens`. */
  rows: string[]
  workspace: Workspace
}

/** Builds a few records and gives the published rows. A list of records is one public source. */
export async function publish(input: SmallBuild | FileRecord[]): Promise<SmallResult> {
  const small = Array.isArray(input) ? { sources: [{ records: input }] } : input
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, small)
  const summary = await buildIn(workspace, 'asOf' in small ? small.asOf : undefined)
  const csv = await publishedCsv(workspace)
  return { summary, csv, rows: rowsOf(csv), workspace }
}

/** The data lines of a CSV without quotes, each as `date model tokens`. */
export function rowsOf(csv: string): string[] {
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.replaceAll(',', ' '))
}

/** `count` models with the tokens that `tokens` gives to each, all at noon of one date. */
export function crowd(count: number, tokens: (index: number) => number | bigint, date = '2025-03-02'): FileRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    timestamp: `${date}T12:00:00Z`,
    model_permaslug: crowdSlug(index),
    prompt_tokens: String(tokens(index)),
  }))
}

export function crowdSlug(index: number): string {
  return `crowd/model-${String(index + 1).padStart(3, '0')}`
}

/** What the CSV of these rows must be. */
export function csvOf(rows: [date: string, model: string, tokens: number | bigint | string][]): string {
  return toCsv(
    rows.map(([date, model_permaslug, tokens]): OracleRow => ({ date, model_permaslug, total_tokens: String(tokens) })),
  )
}
