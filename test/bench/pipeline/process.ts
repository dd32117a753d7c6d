import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Measured } from '../comparison.ts'

const LOOK_EVERY_MS = 20

/** Runs a program of this Node as `runProcess` does. */
export function runNode(words: readonly string[], environment: Record<string, string> = {}): Promise<Measured> {
  return runProcess(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], environment)
}

/**
 * Runs a program to its end: seconds, seconds of CPU time of all its threads, and the most memory that it
 * ever had. Throws what it says on failure.
 */
export async function runProcess(
  program: string,
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<Measured> {
  const begin = performance.now()
  const child = spawn(program, words, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  let [peak_mib, cpu_seconds] = [0, 0]
  const timer = setInterval(async () => {
    peak_mib = Math.max(peak_mib, await peakOf(child.pid))
    cpu_seconds = Math.max(cpu_seconds, await cpuOf(child.pid))
  }, LOOK_EVERY_MS)
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  clearInterval(timer)
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} failed: ${said}`)
  const value = (performance.now() - begin) / 1000
  return { value, details: { seconds: value, cpu_seconds, peak_mib } }
}

/** The peak of a process' memory in MiB, which Linux keeps for it; 0 where there is none to be read any more. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
}

const TICKS_PER_SECOND = 100

/** Seconds of CPU time that a process has taken so far, in its own code and in the system's; 0 where it is gone. */
async function cpuOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program, in brackets, may hold spaces; user and system time are the 12th and 13th field after it.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user ?? 0) + Number(system ?? 0)) / TICKS_PER_SECOND
}
