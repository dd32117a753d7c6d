import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { key } from '../../../pipeline/commands/key.ts'
import { apiKeys, hashKey } from '../../../server/store/keys.ts'
import { openStore } from '../../../server/store/store.ts'
import { temporaryFolder } from '../../support/app.ts'
import { runCommand } from '../../support/command.ts'

/** Runs `tokenboard key …` on a store of its own; returns stdout, and what the store has of the key. */
async function run(...words: string[]) {
  const dataDir = await temporaryFolder()
  vi.stubEnv('DATA_DIR', join(dataDir, 'data'))
  vi.stubEnv('DATABASE_URL', '')
  const { stdout } = await runCommand(key, words)
  const stored = async (secret: string) => {
    const store = await openStore(`sqlite:${dataDir}/data/store.sqlite`)
    const found = await apiKeys(store).findByHash(hashKey(secret))
    await store.close()
    return found
  }
  return { stdout, stored }
}

test.each([[[]], [['create']]])('stores every argument, with the subcommand or without: %s', async (words) => {
  const { stdout, stored } = await run(
    ...words,
    ...['--management', '--name', 'nightly job', '--user', 'user_ada', '--expires', '2999-01-01T02:00:00+02:00'],
    ...['--workspace', '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', '--limit', '12.50', '--limit-reset', 'monthly'],
    ...['--include-byok', '--free-tier'],
  )
  expect(await stored(stdout.trim())).toMatchObject({
    name: 'nightly job',
    creator_user_id: 'user_ada',
    workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e',
    is_management: 1,
    is_free_tier: 1,
    expires_at: '2999-01-01T00:00:00.000Z',
    limit_usd: '12.50',
    limit_reset: 'monthly',
    include_byok_in_limit: 1,
  })
})

test('prints one object with --json, with the key and without its hash', async () => {
  const { stdout, stored } = await run('--json', '--management')
  const printed = JSON.parse(stdout)
  expect(printed).toMatchObject({ key: expect.stringMatching(/^sk-tb-v1-/), is_management: true, is_free_tier: false })
  expect(await stored(printed.key)).toMatchObject({ id: printed.id, label: printed.label })
  expect(stdout).not.toContain(hashKey(printed.key))
})

test.each([
  ['--name', [' ']],
  ['--user', ['ada', 'user_']],
  ['--workspace', ['mine']],
  ['--expires', ['2020-01-01T00:00:00Z', '2999-01-01', 'tomorrow']],
  ['--limit', ['-1', '1e3', 'ten']],
  ['--limit-reset', ['yearly']],
])('refuses %s of %j, and names flag and value', async (flag, values) => {
  for (const value of values) {
    const running = run(flag, value)
    await expect(running).rejects.toThrow(CliError)
    const said = new RegExp(`^${flag} must (.*, not ${RegExp.escape(JSON.stringify(value))}|not be empty)$`)
    await expect(running).rejects.toThrow(said)
  }
})

test.each([
  [[], null],
  [['--limit', '0'], '0'],
])('with %j prints only the key, which is in the store with the limit %j', async (words, limit_usd) => {
  const { stdout, stored } = await run(...words)
  expect(stdout).toMatch(/^sk-tb-v1-[0-9a-f]{64}\n$/)
  expect(await stored(stdout.trim())).toMatchObject({ is_management: 0, limit_usd, expires_at: null })
})

test('reports all wrong arguments at once, and makes no key', async () => {
  await expect(run('--user', 'x', '--limit', 'x')).rejects.toThrow(/--user .*\n *--limit /)
})
