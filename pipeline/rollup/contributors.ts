import { hash } from 'node:crypto'
import type { Database } from '../base/database.ts'
import { hasContributor } from '../raw/schemas/of-source.ts'
import type { Source, Sources } from '../raw/sources.ts'

/** Who contributes the usage of a source: what its records name, their keys, or nobody. */
export type Contributors = 'column' | 'keys' | 'exempt'

export function contributorsOf(source: Source): Contributors {
  return source.contributors ?? 'column'
}

/** Whether some usage can be told apart by contributor. */
export function hasContributors({ sources }: Pick<Sources, 'sources'>): boolean {
  return sources.some((source) => source.contributors !== undefined || hasContributor(source))
}

const BLOCK_BYTES = 64
const INNER = 0x36
const OUTER = 0x5c

/** Sets the key of the contributors' ids, if some usage of the source asks for it. */
export async function setKeyIfNeeded(
  database: Database,
  usage: 'counted' | 'stored',
  { source, readKey }: { source: Source; readKey: () => Promise<string> },
): Promise<void> {
  const [found] = await database.rows<{ has_contributors: boolean }>(`contributors/${usage}`)
  if (found?.has_contributors || source.contributors === 'keys') await setContributorKey(database, await readKey())
}

/** Pads the key as HMAC wants it (RFC 2104). `key` is a text of any length. */
async function setContributorKey(database: Database, key: string): Promise<void> {
  const secret = hash('sha256', key, 'buffer')
  const block = Buffer.concat([secret, Buffer.alloc(BLOCK_BYTES - secret.length)])
  const padded = (padding: number) => Buffer.from(block.map((byte) => byte ^ padding)).toString('hex')
  await database.setVariable('contributor_key_id', hash('sha256', secret).slice(0, 8))
  await database.setVariable('contributor_inner_key', padded(INNER))
  await database.setVariable('contributor_outer_key', padded(OUTER))
}
