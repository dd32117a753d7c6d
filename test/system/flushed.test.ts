/**
 * The real system calls of commands that publish, as strace shows them: nothing gets its name before its bytes are on disk,
 * and nothing follows a rename before its folder is. Skipped, loudly, where strace is not installed or not allowed.
 */
import { readFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { expect, it } from 'vitest'
import {
  createWorkspace,
  crowd,
  removeWorkspace,
  settings,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { run } from './clone.ts'
import { isInstalled, skipLoudly } from './hosting.ts'

const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')
const CALLS =
  'write,writev,pwrite64,pwritev,ftruncate,copy_file_range,sendfile,ioctl,fsync,fdatasync,rename,renameat,renameat2'

interface Call {
  name: string
  paths: string[]
}

/** The calls in the order in which they ended, those of all threads; failed ones are left out. */
function callsOf(trace: string): Call[] {
  const begun = new Map<string, string>()
  const calls: Call[] = []
  for (const line of trace.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const [, start] = /^(.*) <unfinished \.\.\.>$/.exec(rest) ?? []
    if (start !== undefined) {
      begun.set(thread, start)
      continue
    }
    const [, end] = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest) ?? []
    const whole = end === undefined ? rest : `${begun.get(thread)}${end}`
    const [, name, given = ''] = /^(\w+)\((.*)\) += \d+$/.exec(whole) ?? []
    if (name === undefined) continue
    calls.push({
      name,
      paths: [...given.matchAll(/\d<(\/[^>]*)>|"(\/[^"]+)"/g)].map(([, fd, text]) => fd ?? text ?? ''),
    })
  }
  return calls
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(folder + sep)

/** What was not on disk when it had to be: each with the call that came too early. */
function early(calls: readonly Call[], root: string): string[] {
  const [bytes, names] = [new Set<string>(), new Set<string>()]
  const found: string[] = []
  for (const { name, paths } of calls) {
    const [first = '', second = ''] = paths
    if (name.startsWith('rename')) {
      for (const path of bytes) if (isWithin(path, first)) found.push(`${path} before it was renamed to ${second}`)
      // The pointer is the promise that everything else is there.
      if (second.endsWith('latest.json')) for (const path of names) found.push(`${path} before ${second}`)
      // Node keeps compiled modules elsewhere.
      if (isWithin(second, root)) names.add(dirname(second))
    } else if (name.endsWith('sync')) {
      bytes.delete(first)
      names.delete(first)
    } else {
      const written = name === 'copy_file_range' ? second : first
      if (isWithin(written, root) && !written.endsWith('.lock')) bytes.add(written)
    }
  }
  return [...found, ...[...names].map((path) => `${path} at the end`)].map((text) => text.replaceAll(root, ''))
}

async function traced(workspace: Workspace, asOf: string, ...words: string[]): Promise<Call[]> {
  const output = join(workspace.root, 'trace')
  const options = ['-f', '-y', '-qq', '-s', '0', '-o', output, '-e', `trace=${CALLS}`]
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', CLI, ...words]
  const { PATH = '' } = process.env
  const env = { PATH, ...settings(workspace, asOf) }
  const { code, stderr } = await run('strace', [...options, ...node], { cwd: workspace.root, env })
  expect(code, stderr).toBe(0)
  return callsOf(await readFile(output, 'utf8'))
}

it('build, archive, export and withdraw flush everything before they rename it', async ({ skip }) => {
  if (!isInstalled('strace', '-o', '/dev/null', 'true')) {
    skipLoudly(skip, 'strace is not installed or not allowed, so no system calls were observed')
  }
  const workspace = await createWorkspace()
  try {
    const deliver = (tokens: number) => writeSmallBuild(workspace, { sources: [{ records: crowd(3, () => tokens) }] })
    const copy = join(workspace.root, 'copy')
    await deliver(1)
    const first = await traced(workspace, '2025-03-10T12:00:00Z', 'build')
    expect(first.filter(({ name }) => name === 'rename').length).toBeGreaterThan(20)
    expect(early(first, workspace.root)).toEqual([])
    const exported = await traced(workspace, '2025-03-10T12:00:00Z', 'export', copy)
    expect(early(exported, workspace.root)).toEqual([])
    await deliver(2)
    for (const words of [['build'], ['archive', '--before', '2025-03-04'], ['export', copy]]) {
      expect(early(await traced(workspace, '2025-03-10T13:00:00Z', ...words), workspace.root), words[0]).toEqual([])
    }
    const withdraw = ['withdraw', '20250310T130000Z', '--reason', 'It was wrong.']
    expect(early(await traced(workspace, '2025-03-10T14:00:00Z', ...withdraw), workspace.root)).toEqual([])
  } finally {
    await removeWorkspace(workspace)
  }
})
