import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Measured } from '../comparison.ts'
import { cpuSeconds, peakMiB } from '../proc.ts'

const LOOK_EVERY_MS = 20

/** Runs a program of this Node as `runProcess` does. */
export function runNode(words: readonly string[], environment: Record<string, string> = {}): Promise<Measured> {
  return runProcess(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], environment)
}

/** Runs a program to its end: seconds, CPU seconds of all its threads, and its peak memory. Throws what it says on failure. */
export async function runProcess(
  program: string,
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<Measured> {
  const begin = performance.now()
  const env = { ...process.env, ...environment }
  const child = spawn(program, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const said = text(child.stderr)
  let [peak_mib, cpu_seconds] = [0, 0]
  const timer = setInterval(() => {
    peak_mib = Math.max(peak_mib, peakMiB(child.pid))
    cpu_seconds = Math.max(cpu_seconds, cpuSeconds(child.pid))
  }, LOOK_EVERY_MS)
  const [code] = await once(child, 'close')
  clearInterval(timer)
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} failed: ${await said}`)
  const value = (performance.now() - begin) / 1000
  return { value, details: { seconds: value, cpu_seconds, peak_mib } }
}
