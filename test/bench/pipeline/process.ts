import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Measured } from '../comparison.ts'

const LOOK_EVERY_MS = 20

/** Runs a program of this Node to its end: seconds, and the most memory that it ever had. Throws what it says on failure. */
export async function runProcess(
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<Measured> {
  const begin = performance.now()
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  let peak_mib = 0
  const timer = setInterval(async () => {
    peak_mib = Math.max(peak_mib, await peakOf(child.pid))
  }, LOOK_EVERY_MS)
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  clearInterval(timer)
  if (code !== 0) throw new Error(`${words.join(' ')} failed: ${said}`)
  const value = (performance.now() - begin) / 1000
  return { value, details: { seconds: value, peak_mib } }
}

/** The peak of a process' memory in MiB, which Linux keeps for it; 0 where there is none to be read any more. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
}
