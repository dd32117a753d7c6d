/** A golden case on disk and how its steps run: see `test/cases.test.ts`. */
import { existsSync, readdirSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { datasetFolder, releaseFolder, runCli, settings, type Workspace } from './pipeline.ts'
import { compress, writeRecords } from './records.ts'

const StepFile = z.strictObject({
  AS_OF: z.string(),
  run: z.string().default('build'),
  exit: z.int().default(0),
  remove: z.array(z.string()).default([]),
})

const Arrangement = z.record(z.string(), z.string())

/** The folders of a workspace; `copy` is that of an export. */
const FOLDERS = ['input', 'data', 'public', 'copy']

/** A step of a case: its folder and its step.json. */
export interface Step extends z.infer<typeof StepFile> {
  name: string
  folder: string
}

/** The steps of a case in order. A case without folders such as `01-first` is a step itself. */
export async function readSteps(folder: string): Promise<Step[]> {
  const names = readdirSync(folder).filter((name) => /^\d\d-/.test(name))
  return Promise.all(
    (names.length > 0 ? names.sort() : ['.']).map(async (name) => {
      const step = join(folder, name)
      return { name, folder: step, ...StepFile.parse(await readJson(join(step, 'step.json'))) }
    }),
  )
}

export interface Outcome {
  exit: number
  /** The summary of a step that asks for it in JSON. */
  summary: unknown
  said: string
}

/** Removes, adds and replaces files as the step says. */
export async function changeFiles(step: Step, workspace: Workspace): Promise<void> {
  for (const path of step.remove) await rm(join(workspace.root, path), { recursive: true })
  for (const name of FOLDERS) {
    const from = join(step.folder, name)
    if (name !== 'copy') await mkdir(join(workspace.root, name), { recursive: true })
    if (existsSync(from)) await cp(from, join(workspace.root, name), { recursive: true })
  }
  await arrange(join(step.folder, 'arrange.json'), workspace)
}

/** Runs the command of a step in the folder that holds input/, data/ and public/. */
export async function runStep(step: Step, workspace: Workspace): Promise<Outcome> {
  const hasSummary = existsSync(join(step.folder, 'expected/summary.json'))
  const sources = existsSync(workspace.sources) ? workspace.sources : ''
  const args = [...wordsOf(step.run), ...(hasSummary ? ['--json'] : [])]
  const environment = { ...settings(workspace, step.AS_OF), SOURCES: sources }
  const { code, stdout, stderr } = await runCli(args, environment, workspace.root)
  return {
    exit: code,
    summary: hasSummary ? JSON.parse(stdout) : undefined,
    said: withoutProgress(hasSummary ? stderr : stdout + stderr).replaceAll(`${workspace.root}/`, ''),
  }
}

/** The words of a command line. Single quotes keep spaces together. */
function wordsOf(run: string): string[] {
  return [...run.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

/** Leaves out sizes too: they change with each change of a page. */
function withoutProgress(stderr: string): string {
  const isProgress = (line: string) => / \(0\.0 s\)$|^ {2}(published|in all) /.test(line)
  const lines = stderr.split('\n')
  return lines.filter((line) => !isProgress(line)).join('\n')
}

/** Gives files of the input the names and formats of arrange.json. */
async function arrange(arrangement: string, { input }: Workspace): Promise<void> {
  if (!existsSync(arrangement)) return
  for (const [from, to] of Object.entries(Arrangement.parse(await readJson(arrangement)))) {
    const text = await readFile(join(input, from), 'utf8')
    await rm(join(input, from))
    const path = join(input, to)
    await mkdir(dirname(path), { recursive: true })
    if (to.endsWith('.parquet')) await writePlainCsvAsParquet(path, text)
    else await writeFile(path, compress(to, text))
  }
}

/** For CSV without quotes. */
async function writePlainCsvAsParquet(path: string, csv: string): Promise<void> {
  const [columns = [], ...records] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','))
  const named = records.map((fields) =>
    Object.fromEntries(columns.map((column, index) => [column, fields[index] ?? ''])),
  )
  await writeRecords(path, named, { columns, typedColumns: true })
}

/** What a file of `expected/` must contain now. `expected` is its present text. */
export async function actualText(
  name: string,
  expected: string,
  { said, summary }: Outcome,
  workspace: Workspace,
): Promise<string> {
  if (name === 'said.txt') return said
  if (name === 'summary.json') return factsOf(summary, expected)
  if (name === 'files.txt') return listFolders(datasetFolder(workspace))
  if (!name.endsWith('.facts.json')) return readFile(await publishedPath(name, workspace), 'utf8')
  return factsOf(await readJson(await publishedPath(name.replace('.facts.json', '.json'), workspace)), expected)
}

async function publishedPath(name: string, workspace: Workspace): Promise<string> {
  const [top, ...rest] = name.split('/')
  if (FOLDERS.includes(top ?? '')) return join(workspace.root, name)
  if (top === 'v1') return join(datasetFolder(workspace), ...rest)
  return join(await releaseFolder(workspace), name)
}

/** The members of `value` that the expected JSON has, as JSON. */
function factsOf(value: unknown, expected: string): string {
  return `${toText(pick(value, JSON.parse(expected)))}\n`
}

const LINE_WIDTH = 160

/** JSON in which what fits on a line is on one. */
function toText(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, undefined, 1).replaceAll(/\n */g, ' ')
  if (typeof value !== 'object' || value === null || line.length <= LINE_WIDTH) return line
  const inner = `${indent}  `
  const names = Object.entries(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const members = names.map(([name, member]) => {
    return `${inner}${Array.isArray(value) ? '' : `${JSON.stringify(name)}: `}${toText(member, inner)}`
  })
  return `${open}\n${members.join(',\n')}\n${indent}${close}`
}

function pick(value: unknown, shape: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shape)) {
    return value.map((item, index) => pick(item, shape[index] ?? shape.at(-1)))
  }
  if (!isObject(value) || !isObject(shape) || Object.keys(shape).length === 0) return value
  const keys = Object.keys(shape).filter((key) => key in value)
  return Object.fromEntries(keys.map((key) => [key, pick(value[key], shape[key])]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A line for each folder with the names in it. Releases and `latest` are one name each. */
function listFolders(top: string, below = ''): string {
  const entries = readdirSync(join(top, below), { withFileTypes: true })
  const names = entries.map((entry) => entry.name).sort()
  const folders = entries.filter((entry) => entry.isDirectory() && !isRelease(join(below, entry.name)))
  const line = `${below === '' ? '.' : below}: ${names.join(' ')}\n`
  const within = folders.map(({ name }) => listFolders(top, join(below, name)))
  return line + within.sort().join('')
}

function isRelease(path: string): boolean {
  return /^releases\/./.test(path)
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}
