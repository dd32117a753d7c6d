/** What Linux says of a process, in files of it. */
import { readFileSync } from 'node:fs'

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
export function peakMiB(pid: number | undefined): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(pid, 'status'))?.[1] ?? 0) / 1024
}

function read(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
