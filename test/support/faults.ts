/** What may go wrong at any one effect of a command, and machines that are lost there: for tests and for `make soak`. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Database } from '../../pipeline/base/database.ts'
import type { Files } from '../../pipeline/base/files.ts'
import { filesWithin } from './crash.ts'

/**
 * One effect: a step of `Files`, or a statement by which DuckDB writes a file (`copyTo`) or its own (`commit`). `paths` are
 * those that it was given.
 */
export interface Effect {
  name: keyof Files | 'copyTo' | 'commit'
  paths: string[]
  content?: unknown
  /** Of a rename: whether the next one into the same folder flushes it. */
  isMore?: unknown
}

/** Runs instead of an effect, which happens when `take` is called. */
export type Around = (effect: Effect, take: () => Promise<void>) => Promise<void>

/** Runs `work` with `around` about every effect that it has, those of DuckDB included. */
export async function withEffects<Result>(around: Around, work: (files: Files) => Promise<Result>): Promise<Result> {
  const { execute } = Database.prototype
  Database.prototype.execute = function (sql, parameters = {}) {
    const take = () => execute.call(this, sql, parameters)
    if (sql === 'COMMIT') return around({ name: 'commit', paths: [] }, take)
    if (!/^COPY\b/m.test(sql)) return take()
    const { path } = parameters
    return around({ name: 'copyTo', paths: [String(path)] }, take)
  }
  try {
    return await work(filesWithin((name, given, take) => around(effectOf(name, given), take)))
  } finally {
    Database.prototype.execute = execute
  }
}

function effectOf(name: keyof Files, [first, second, isMore]: unknown[]): Effect {
  if (name === 'write') return { name, paths: [String(first)], content: second }
  if (name === 'rename') return { name, paths: [String(first), String(second)], isMore }
  // Where a link leads is no path of this process.
  if (name === 'link') return { name, paths: [String(second)] }
  return { name, paths: [first, second].filter((path) => path !== undefined).map(String) }
}

const CAN_BE_TORN: readonly Effect['name'][] = ['write', 'copy', 'copyTo', 'remove']

/** Whether an effect can be half done: what is one step of the file system, such as a rename, is done or not. */
export function canBeTorn({ name }: Effect): boolean {
  return CAN_BE_TORN.includes(name)
}

/** Does half of an effect that can be torn. */
export async function tear({ name, paths: [first = '', second = ''], content }: Effect): Promise<void> {
  if (name === 'write') await writeFile(first, halfOf(content))
  if (name === 'copy') await writeFile(second, halfOf(await readFile(first)))
  if (name === 'copyTo') await writeFile(first, 'PAR1 and no more')
  if (name === 'remove') await removeHalf(first)
}

function halfOf(content: unknown): string | Uint8Array {
  if (typeof content === 'string' || content instanceof Uint8Array) return content.slice(0, content.length / 2)
  return '{"half a line'
}

/** A folder is removed entry by entry. */
async function removeHalf(path: string): Promise<void> {
  const names = await readdir(path).catch(() => [])
  for (const name of names.slice(0, names.length / 2)) await rm(join(path, name), { recursive: true })
}

/**
 * What one effect fails with. `EIO` comes once, after the effect was half done or, for a rename, done. A full disk
 * (`ENOSPC`) stays full, but what takes no room works; a file system that is read-only (`EROFS`) stays so.
 */
export const FAULTS = ['EIO', 'ENOSPC', 'EROFS'] as const
export type Fault = (typeof FAULTS)[number]

const TAKES_NO_ROOM: readonly Effect['name'][] = ['remove', 'flush', 'rename']

/** Has `fault` begin with the effect number `at`, from 1 on. */
export function failingAt(at: number, fault: Fault): Around {
  let count = 0
  return async (effect, take) => {
    count += 1
    const isLater = count > at
    if (count < at || (isLater && fault === 'EIO')) return take()
    if (fault === 'ENOSPC' && TAKES_NO_ROOM.includes(effect.name)) return take()
    if (fault === 'EIO' && effect.name === 'rename') await take()
    else if (fault !== 'EROFS' && !isLater) await tear(effect)
    throw new FaultError(fault, effect)
  }
}

/** As the file system or DuckDB would say it. */
export class FaultError extends Error {
  constructor(fault: Fault, { name, paths }: Effect) {
    super(`${fault}: injected, ${name} '${paths.join("' -> '")}'`)
  }
}
