import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { KeySpendDay, KeySpendHeader } from '../../pipeline/contract/usage.ts'
import { type FollowedFile, followFile } from '../base/followed-file.ts'
import type { IncomingDay, KeySpendStore } from './usage.ts'

/** A usage file that cannot be loaded. The message has nothing of its content, which is private. */
export class UsageFileError extends Error {
  override name = 'UsageFileError'
}

/** Loads the usage file (pipeline/contract/usage.ts) into the store, now and after each build. */
export function followKeySpend(path: string, usage: KeySpendStore, log: FastifyBaseLogger): FollowedFile {
  return followFile({
    path,
    async load() {
      const started = performance.now()
      const { header, days } = await readUsageFile(path)
      const { changedDays } = await usage.replace(days)
      const elapsed_ms = Math.round(performance.now() - started)
      log.info({ as_of: header.as_of, days: header.days, changed_days: changedDays, elapsed_ms }, 'usage loaded')
    },
    onRefused: (error) => log.error({ err: error }, 'the new usage of keys is refused; the previous usage stays'),
    log,
  })
}

async function readUsageFile(path: string): Promise<{ header: KeySpendHeader; days: IncomingDay[] }> {
  const text = await readFile(path, 'utf8')
  if (!text.endsWith('\n')) throw new UsageFileError(`${path} does not end with a line ending`)
  const [first = '', ...lines] = text.slice(0, -1).split('\n')
  const header = parse(`${path}, line 1`, () => KeySpendHeader.parse(JSON.parse(first)))
  if (lines.length !== header.days) {
    throw new UsageFileError(`${path} has ${lines.length} days instead of ${header.days}`)
  }
  const days: IncomingDay[] = []
  for (const [index, line] of lines.entries()) {
    const digest = hash('sha256', line)
    days.push({ digest, read: () => parse(`${path}, line ${index + 2}`, () => KeySpendDay.parse(JSON.parse(line))) })
    // Let requests be served meanwhile.
    await nextTurn()
  }
  return { header, days }
}

function parse<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    // The cause would quote the line, which has hashes of keys.
    const reason = error instanceof SyntaxError ? 'is not JSON' : 'is not in the format of a usage file'
    throw new UsageFileError(`${where} ${reason}`)
  }
}
