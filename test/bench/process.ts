import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Measured } from './measure.ts'

const LOOK_EVERY_MS = 20

/** The shell tells the process id, and at the end the CPU time of the process with its threads and own children. */
const MEASURED = '"$@" 3>&- & echo $! >&3; wait $!; status=$?; times >&3; exit $status'

const CLOCK = join(import.meta.dirname, 'clock.ts')
/** As the Makefile has it. */
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/compiled')

/** Runs a program of this Node as `runProcess` does; where AS_OF lies ahead, the clock of the program is there too. */
export function runNode(words: readonly string[], environment: Record<string, string> = {}): Promise<Measured> {
  const { AS_OF = '' } = environment
  const clock = Date.parse(AS_OF) > Date.now() ? ['--import', CLOCK] : []
  return runProcess(process.execPath, ['--disable-warning=ExperimentalWarning', ...clock, ...words], {
    NODE_COMPILE_CACHE: COMPILED,
    ...environment,
  })
}

/**
 * Runs a program to its end and measures its CPU seconds (user and system, all threads), to a hundredth; with the
 * seconds by the clock and its peak memory. Throws what it says on failure.
 */
export async function runProcess(
  program: string,
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<Measured> {
  const begin = performance.now()
  const env = { ...process.env, ...environment }
  const shell = ['-c', MEASURED, 'sh', program, ...words]
  const child = spawn('sh', shell, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  const said = text(child.stderr as Readable)
  let noted = ''
  child.stdio[3]?.on('data', (chunk) => (noted += chunk))
  let peak_mib = 0
  const timer = setInterval(() => (peak_mib = Math.max(peak_mib, peakMiB(Number.parseInt(noted, 10)))), LOOK_EVERY_MS)
  const [code] = await once(child, 'close')
  clearInterval(timer)
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} failed: ${await said}`)
  return { value: cpuSecondsOf(noted), details: { wall_s: (performance.now() - begin) / 1000, peak_mib } }
}

/** `times` prints a line for the shell and a line for its children, such as `0m1.180000s 0m0.020000s`. */
function cpuSecondsOf(noted: string): number {
  const times = [...noted.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  )
  const [user, system] = times.slice(-2)
  if (times.length !== 4 || user === undefined || system === undefined) throw new Error(`no times in ${noted}`)
  return user + system
}

const TICKS_PER_SECOND = 100

/** CPU seconds that a process has used so far, with its threads; 0 where it has ended. */
export function cpuSeconds(pid: number | undefined): number {
  const stat = read(pid, 'stat')
  // The name of the program, in brackets, may contain spaces. User and system time are the 12th and 13th field after it.
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) / TICKS_PER_SECOND
}

/** The peak of a process's memory in MiB; 0 where it has ended. */
function peakMiB(pid: number | undefined): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(pid, 'status'))?.[1] ?? 0) / 1024
}

/** What Linux says of a process, in files of it. */
function read(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
