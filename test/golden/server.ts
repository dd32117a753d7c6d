/** A server with keys of every kind, over a published folder, with a clock that stands still. */
import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readServerConfig } from '../../server/base/config.ts'
import { startServer } from '../../server/main.ts'
import { apiKeys, type NewKey } from '../../server/store/keys.ts'
import { openStore } from '../../server/store/store.ts'
import { captureLog, temporaryFolder } from '../support/app.ts'

type KeyName = 'management' | 'limited' | 'other' | 'expired' | 'revoked'

const NOW = new Date('2025-03-12T09:30:00Z')
const HOUR_MS = 3_600_000
const OTHER_WORKSPACE = '11111111-1111-4111-8111-111111111111'

const KEYS: Record<KeyName, NewKey> = {
  management: { name: 'management', isManagement: true, userId: 'user_ada' },
  limited: { name: 'limited', userId: 'user_ben', limitUsd: '12.5', limitReset: 'monthly', includeByokInLimit: true },
  other: { name: 'other', isManagement: true, userId: 'user_cyd', workspaceId: OTHER_WORKSPACE, isFreeTier: true },
  expired: { name: 'expired', expiresAt: new Date(NOW.getTime() - HOUR_MS) },
  revoked: { name: 'revoked' },
}

/** A new store with one key of each kind. */
export async function goldenStore(): Promise<{ databaseUrl: string; secrets: Record<KeyName, string> }> {
  const databaseUrl = `sqlite:${join(await temporaryFolder(), 'store.sqlite')}`
  const store = await openStore(databaseUrl)
  const keys = apiKeys(store)
  const create = async (name: KeyName) => {
    const { secret, key } = await keys.create(KEYS[name], new Date(NOW.getTime() - 24 * HOUR_MS))
    if (name === 'revoked') await keys.revoke(key.id, NOW)
    return secret
  }
  const secrets = {
    management: await create('management'),
    limited: await create('limited'),
    other: await create('other'),
    expired: await create('expired'),
    revoked: await create('revoked'),
  }
  await store.close()
  return { databaseUrl, secrets }
}

/** When all published files were last changed, as far as the server can tell. */
const MODIFIED = new Date('2025-03-12T09:00:00Z')

/** Serves until the test is over, and returns the port. */
export async function serveGolden(folders: { publicDir: string; dataDir: string }, databaseUrl: string) {
  const { publicDir, dataDir } = folders
  for (const entry of await readdir(publicDir, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), MODIFIED, MODIFIED)
  }
  const settings = {
    PORT: '0',
    PUBLIC_DIR: publicDir,
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    BOOTSTRAP_KEY: '0',
  }
  const effects = { clock: () => NOW, print: () => {}, logStream: captureLog().stream }
  const server = await startServer(readServerConfig({}, settings), effects)
  onTestFinished(() => server.close())
  return Number(new URL(server.url).port)
}
