import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

const CORE = { server: '0', client: '1' }

/** Whether a server and its client can have a core each. */
export const HAS_CORES = process.platform === 'linux' && cpus().length > 1 && hasTaskset()

/** Binds a process and all of its threads to one core. */
export function onCore(pid: number | undefined, role: keyof typeof CORE): void {
  if (HAS_CORES && pid !== undefined) execFileSync('taskset', ['-a', '-p', '-c', CORE[role], String(pid)])
}

/** CPU seconds that a process used so far, with its threads; NaN where the system does not tell. */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    // utime and stime, in hundredths of a second on every Linux there is.
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return Number.NaN
  }
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-p', String(process.pid)])
    return true
  } catch {
    return false
  }
}
